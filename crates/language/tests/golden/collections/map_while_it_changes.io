// What map walks is what is there when it begins: growing the list meanwhile raised an index error, shrinking it lost
// elements.
l := list(1, 2, 3)
l map(v, l append(v); v * 2) println
l println
l = list(1, 2, 3)
l map(i, v, l removeFirst; i + v) println
l println
l = list(1, 2, 3)
l groupBy(v, l append(v); v isOdd) println
list(1, 2, 3, 4) map(v, if(v == 3, break); v * 10) println
