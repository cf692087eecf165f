# exSlice and inSlice, with negative and omitted ends.
s := "abcdefg"
s exSlice(2) println
s exSlice(2, 4) println
s exSlice(0, -2) println
s exSlice(-3) println
s exSlice(-3, -1) println
s inSlice(1, 3) println
s inSlice(0, 0) println
s exSlice(5, 2) size println
s exSlice(3, 100) println
s inclusiveSlice(1, 2) println
