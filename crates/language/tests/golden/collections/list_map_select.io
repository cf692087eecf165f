# map and select in their three forms leave the receiver alone.
l := list(1, 2, 3, 4)
l map(v, v * v) println
l map(i, v, i * v) println
l map(squared) println
l select(v, v > 2) println
l select(i, v, i % 2 == 0) println
l select(isEven) println
list(nil, 1, false, 2) select(v, v) println
l println
l mapInPlace(v, v + 1) println
l selectInPlace(v, v > 3) println
l println
