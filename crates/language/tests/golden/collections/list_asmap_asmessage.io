# asMessage turns values into the arguments of a message.
m := list(3, 4) asMessage
m argCount println
m setName("mul")
mul := method(a, b, a * b)
doMessage(m) println
m argAt(1) cachedResult println
