# Two slots of one object read and written, five million times.
Account := Object clone do(
    balance := 0
    moves := 0
)

run := method(times,
    account := Account clone
    for(i, 1, times,
        account balance = account balance + i
        account moves = account moves + 1
    )
    account balance + account moves
)

run(5000000) println
