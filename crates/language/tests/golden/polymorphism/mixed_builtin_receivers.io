# The same site sees numbers, strings, lists, nil and booleans.
sizeOf := method(x, x asString size)
sum := 0
list(12345, "four", list(1), nil, true, false, 1.5) foreach(v, sum = sum + sizeOf(v))
sum println
addOne := method(x, x + 1)
addOne(1) println
Seq := Object clone do(setSlot("+", method(o, "custom + " .. o)))
addOne(Seq) println
addOne(2) println
