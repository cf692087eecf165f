# call evalArgs and message argsEvaluatedIn give all values; argAt gives the message.
f := method(call evalArgs)
f(1 + 1, "x" .. "y") println
g := method(call message argsEvaluatedIn(call sender))
a := 9
g(a, a * a) println
h := method(call argAt(0) name)
h(someName foo) println
k := method(call argAt(5))
k(1) println
