# A call in tail position still has its real sender.
who := method(call sender mark)
viaTail := method(mark := "viaTail's mark"; who)
viaTail println
outer := method(mark := "outer's mark"; inner)
inner := method(mark := "inner's mark"; who)
outer println
chain := method(n, mark := "mark " .. n; if(n == 0, who, chain(n - 1)))
chain(3) println
