# An argument message is evaluated in the caller's locals however deep the evaluation happens.
x := "lobby's x"
run := method(x := "run's x"; call evalArgAt(0))
relay := method(x := "relay's x"; run(call evalArgAt(0)))
f := method(x := "f's x"; relay(x))
f println
g := method(x := "g's x"; run(run(run(x))))
g println
run(x) println
