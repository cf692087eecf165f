# What was done before the error stays done; nothing after it happens.
log := List clone
o := Object clone do(a := 0; b := 0)
e := try(o a = 1; log append("one"); o nope; o b = 1; log append("two"))
list(o a, o b) println
log println
e error println
