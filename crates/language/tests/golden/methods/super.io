# super(m(args)) sends any message to the proto above the method's holder, self unchanged.
A := Object clone do(v := 1; describe := method(n, list("A", v, n)))
B := A clone do(v := 2; describe := method(n, super(describe(n + 1)) prepend("B")))
C := B clone do(v := 3; describe := method(n, super(describe(n * 10)) prepend("C")))
C describe(5) println
B describe(5) println
A describe(5) println
D := C clone do(v := 4)
D describe(0) println
