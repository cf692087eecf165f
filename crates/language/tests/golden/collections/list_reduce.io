# reduce from the left, reverseReduce from the right, with operator or names, with a start value.
l := list(1, 2, 3, 4)
l reduce(+) println
l reduce(a, b, a * b) println
l reduce(+, 10) println
l reduce(a, b, a .. b, "") println
l reverseReduce(-) println
l reverseReduce(a, b, a .. b) println
list(7) reduce(+) println
list() reduce(+) println
l sum println
l average println
l max println
l min println
list("pear", "fig") max(size) println
