# argumentNames and setArgumentNames describe and rename the parameters.
f := method(a, b, a - b)
getSlot("f") argumentNames println
f(10, 3) println
getSlot("f") setArgumentNames(list("b", "a"))
f(10, 3) println
getSlot("f") asSimpleString println
block(x, x) asSimpleString println
method(1) asSimpleString println
