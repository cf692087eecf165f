# remove takes out every equal item; appendIfAbsent adds only new ones.
l := list(1, 2, 1, 3, 1)
l remove(1) println
l appendIfAbsent(2, 4) println
list("a", "b", "a") remove("a") println
list(1, 2, 3) removeSeq(list(1, 3)) println
