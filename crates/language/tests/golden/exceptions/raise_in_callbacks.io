# An exception inside foreach, map, sortBy, init and forward reaches the try; the list stays usable.
l := list(3, 1, 2)
try(l foreach(v, if(v == 1, Exception raise("in foreach")))) error println
try(l map(v, v nope)) error println
try(l sortBy(block(a, b, Exception raise("in sort")))) error println
l println
Bad := Object clone do(forward := method(Exception raise("in forward " .. call message name)))
try(Bad anything) error println
P := Object clone
P init := method(Exception raise("in init"))
try(P clone) error println
l append(4) println
