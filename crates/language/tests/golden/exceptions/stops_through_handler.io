# A return, break or continue in the body of withHandler goes on past it, and the handler is gone afterwards.
resume := block(e, resumption, resumption resume(1))
early := method(
    withHandler(Exception, resume, return 5)
    6
)
early println
found := nil
for(i, 1, 10,
    withHandler(Exception, resume,
        if(i < 3, continue)
        found = i
        break
    )
)
found println
plain := method(withHandler(Exception, resume, 7) + 1)
plain println
raising := method(
    withHandler(Error, resume, Exception raise("no"))
    8
)
try(raising) error println
Coroutine currentCoroutine handlerStack size println
