# A list of a million numbers, built by appending and summed by iterating, five times over.
build := method(size,
    items := List clone
    for(i, 1, size, items append(i))
    items
)

total := method(items,
    sum := 0
    items foreach(item, sum = sum + item)
    sum
)

run := method(times,
    sum := 0
    for(i, 1, times, sum = sum + total(build(1000000)))
    sum
)

run(5) println
