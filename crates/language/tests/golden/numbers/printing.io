# Whole numbers print without a point; others with as many digits as needed.
1 println
1.0 println
0.5 println
(0.1 + 0.2) println
(1 / 3) println
(2 / 3) println
100 println
1234567890123 println
(10 ** 15) println
0.001 println
1.25e-3 println
(-0.75) println
123456.789 println
