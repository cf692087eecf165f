# 200,000 string keys put into a map and read back, the keys made anew each time; four maps.
fill := method(size,
    table := Map clone
    for(i, 1, size, table atPut("key" .. i, i))
    table
)

total := method(table, size,
    sum := 0
    for(i, 1, size, sum = sum + table at("key" .. i))
    sum
)

run := method(times, size,
    sum := 0
    for(i, 1, times, sum = sum + total(fill(size), size))
    sum
)

run(4, 200000) println
