# atInsert, insertAt, insertBefore, insertAfter, remove, removeAt, removeAll.
l := list("a", "c")
l atInsert(1, "b") println
l insertAt("d", 3) println
l insertBefore("x", "c") println
l insertAfter("y", "c") println
l insertAfter("z", "none") println
l remove("x") println
l remove("a", "b") println
l removeAt(0) println
l println
l removeAll println
