# A million short pieces appended to one mutable string, eight strings.
build := method(pieces,
    text := Sequence clone
    for(i, 1, pieces, text appendSeq("telos "))
    text
)

run := method(times, pieces,
    size := 0
    for(i, 1, times, size = size + build(pieces) size)
    size
)

run(8, 1000000) println
