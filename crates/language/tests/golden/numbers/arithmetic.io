# The four operations, remainder and powers.
(7 / 2) println
(7 % 3) println
(-7 % 3) println
(7.5 % 2) println
7 mod(3) println
(2 ** 10) println
(2 ** 0.5) println
2 pow(3) println
9 sqrt println
3 squared println
3 cubed println
5 factorial println
5 combinations(2) println
5 permutations(2) println
