# inf and nan come from arithmetic and print as words.
(1 / 0) println
(0 - 1 / 0) println
(0 / 0) isNan println
(1 / 0) isNan println
(0 / 0 == 0 / 0) println
(1 / 0 > 10 ** 100) println
Number constants inf println
Number constants pi println
Number constants e println
