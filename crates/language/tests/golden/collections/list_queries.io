# contains, containsAll, containsAny, indexOf, detect, in.
l := list("a", "b", "c", "b")
l contains("b") println
l contains("z") println
l containsAll(list("a", "c")) println
l containsAll(list("a", "z")) println
l containsAny(list("z", "c")) println
l indexOf("b") println
l indexOf("z") println
l detect(v, v > "a") println
l detect(i, v, i == 2) println
l detect(v, v == "z") println
"b" in(l) println
