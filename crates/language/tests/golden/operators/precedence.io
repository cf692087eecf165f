# Precedence levels bind as in arithmetic, then comparison, then logic.
(1 + 2 * 3) println
(2 * 3 + 4 * 5) println
(10 - 4 - 3) println
(2 ** 3 ** 2) println
(1 + 2 < 4) println
(1 < 2 and 2 < 3) println
(1 << 4 + 1) println
(7 & 3 | 8) println
("a" .. 1 + 2 .. "b") println
(10 % 4 * 2) println
