# min, max, clip, between, minMax, compare.
3 min(5) println
3 max(5) println
15 clip(0, 10) println
(-5) clip(0, 10) println
5 between(1, 5) println
6 between(1, 5) println
12 minMax(0, 10) println
1 compare(2) println
2 compare(2) println
(1 == 1) println
(1 != 1) println
(3 >= 3) println
