# Objects are equal only to themselves unless they define compare or ==.
a := Object clone
b := Object clone
(a == a) println
(a == b) println
(a != b) println
a isIdenticalTo(a) println
(a uniqueId == a uniqueId) println
(a uniqueId == b uniqueId) println
P := Object clone do(x := 0; setSlot("==", method(o, x == o x)))
p := P clone do(x := 1)
q := P clone do(x := 1)
(p == q) println
(p == P) println
