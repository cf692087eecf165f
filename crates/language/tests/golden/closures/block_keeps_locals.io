# A block that outlives its method keeps the method's locals.
make := method(n, block(n = n + 1; n))
c := make(10)
c call println
c call println
d := make(100)
d call println
c call println
