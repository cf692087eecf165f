# Block setMessage swaps the whole body; the change holds for running call sites.
f := method(x, x + 1)
call5 := method(f(5))
call5 println
getSlot("f") setMessage(message(x * 100))
call5 println
getSlot("f") setArgumentNames(list("y"))
getSlot("f") setMessage(message(y negate))
call5 println
getSlot("f") argumentNames println
