# Very large and very small numbers.
(2 ** 53) println
(2 ** 62) println
(10 ** 18) println
(10 ** 20) println
1e100 println
1e-10 println
1e-20 println
