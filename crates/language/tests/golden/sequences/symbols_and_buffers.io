# Literals are symbols, identical when equal; asMutable and Sequence clone give buffers.
a := "text"
b := "te" .. "xt"
a isIdenticalTo(b) println
a isSymbol println
a isMutable println
m := "text" asMutable
m isMutable println
(m == a) println
m isIdenticalTo(a) println
m asSymbol isIdenticalTo(a) println
Sequence clone isMutable println
