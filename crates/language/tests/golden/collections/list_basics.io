# Building, reading and changing a list.
l := list(1, "two", nil, true)
l println
l size println
l at(1) println
l at(10) println
l at(-1) println
l first println
l last println
l append(5) println
l atPut(0, "one") println
l isEmpty println
list() isEmpty println
list println
