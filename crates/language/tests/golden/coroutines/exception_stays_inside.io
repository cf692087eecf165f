# An exception ends its own coroutine only; the exception slot tells of it.
c := coroFor(Exception raise("lost"); "unreached" println)
c setParentCoroutine(Scheduler currentCoroutine)
try(c resume)
c exception error println
c isFinished println
ok := coroFor("fine")
ok resume
ok exception println
ok result println
