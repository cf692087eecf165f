# toBase and its padded relatives.
255 toBase(16) println
10 toBase(2) println
8 toBase(8) println
97 asHex println
5 asBinary println
8 asOctal println
10 toBaseWholeBytes(2) println
0 toBase(2) println
