# Text of the error for = on a name that was never defined.
try(zz = 1) error println
o := Object clone
try(o field = 1) error println
f := method(local = 2)
try(f) error println
