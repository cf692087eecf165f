# Bit operations work on whole numbers.
(6 & 3) println
(6 | 3) println
(6 ^ 3) println
(1 << 10) println
(1024 >> 3) println
6 bitwiseAnd(3) println
6 bitwiseOr(3) println
6 bitwiseXor(3) println
0 bitwiseComplement println
5 bitwiseComplement println
1 shiftLeft(4) println
256 at(8) println
