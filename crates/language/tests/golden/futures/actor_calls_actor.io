# One actor waits on the future of another.
Inner := Object clone do(value := method(7))
Outer := Object clone do(compute := method(v := Inner @value; v * 6))
r := Outer @compute
(r + 0) println
