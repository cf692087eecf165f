# atPut, removeAt, removeLast, setSize, insert on a buffer.
s := "hello" asMutable
s atPut(0, 72) println
s removeAt(1) println
s removeLast println
s println
s setSize(2) println
s setSize(4) size println
t := "abc" asMutable
t atPut(1, "X" at(0)) println
