# The literal inside message(x) is one and the same object on every evaluation.
lit := method(message(x y))
lit isIdenticalTo(lit) println
a := lit
a setName("renamed")
lit println
both := list(message(q), message(q))
both at(0) isIdenticalTo(both at(1)) println
