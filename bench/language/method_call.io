# A method with two arguments, found in the receiver's prototype, called five million times.
Adder := Object clone do(
    add := method(a, b, a + b)
)

run := method(calls,
    adder := Adder clone
    sum := 0
    for(i, 1, calls, sum = adder add(sum, i))
    sum
)

run(5000000) println
