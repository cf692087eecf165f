# ancestorWithSlot and contextWithSlot say where a slot is found.
A := Object clone do(x := 1)
B := A clone
o := B clone
o ancestorWithSlot("x") type println
o contextWithSlot("x") type println
o x := 2
o ancestorWithSlot("x") type println
o contextWithSlot("x") isIdenticalTo(o) println
o ancestorWithSlot("nowhere") println
