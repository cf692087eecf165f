# Three million objects cloned from a prototype; each gets one slot of its own and inherits the other.
Point := Object clone do(
    x := 0
    y := 1
)

run := method(count,
    sum := 0
    for(i, 1, count,
        point := Point clone
        point x = i
        sum = sum + point x + point y
    )
    sum
)

run(3000000) println
