# isKindOf follows all protos; ancestors lists them.
A := Object clone
B := A clone
o := B clone
o isKindOf(A) println
o isKindOf(B) println
o isKindOf(Object) println
o isKindOf(Map) println
A isKindOf(B) println
3 isKindOf(Number) println
o ancestors slice(0, 3) map(type) println
