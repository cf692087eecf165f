# Logarithms and trigonometry, rounded to be comparable.
round3 := method(x, (x * 1000) round / 1000)
round3(1 exp) println
round3(10 log) println
100 log10 println
8 log2 println
8 log(2) println
round3(1 sin) println
round3(1 cos) println
round3(1 tan) println
round3(1 atan2(2)) println
0 sin println
0 acos asString exSlice(0, 5) println
