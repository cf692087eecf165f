# sortInPlace with a message compares by that message's value.
list("aaa", "b", "cc") sortInPlace(size) println
list("x", "yy") sort println
l := list(5, 3, 9)
l sortBy(block(a, b, a < b)) println
l println
