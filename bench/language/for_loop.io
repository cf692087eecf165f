# A counting loop: one addition for each of eight million numbers.
run := method(limit,
    sum := 0
    for(i, 1, limit, sum = sum + i)
    sum
)

run(8000000) println
