# A counting loop: one addition for each of ten million numbers.
run := method(limit,
    sum := 0
    for(i, 1, limit, sum = sum + i)
    sum
)

run(10000000) println
