# slice with start, end and step, negative indexes included.
l := list(0, 1, 2, 3, 4, 5)
l slice(2) println
l slice(1, 3) println
l slice(-2) println
l slice(0, -1) println
l slice(0, 6, 2) println
l slice(5, 0, -2) println
l slice(4, 2) println
l slice(10) println
l rest println
m := list(1, 2, 3, 4)
m sliceInPlace(1, 3) println
m println
