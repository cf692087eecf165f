# The arguments of @ are evaluated by the sender at once.
x := 1
Worker := Object clone do(show := method(v, v))
f := Worker @show(x * 10)
x = 2
(f + 0) println
