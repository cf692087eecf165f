# A counting loop as long as the first argument says; its peak memory must not depend on the length.
run := method(limit,
    sum := 0
    for(i, 1, limit, sum = sum + i)
    sum
)

run(System args at(1) asNumber) println
