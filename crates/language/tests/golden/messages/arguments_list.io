# arguments is a list of messages, argAt one of them, or nil past the end.
m := message(f(a, b + c, "s"))
m arguments size println
m arguments map(name) println
m argAt(0) println
m argAt(1) println
m argAt(2) println
m argAt(3) println
m argCount println
