# raise takes a nested exception as second argument.
cause := try(Exception raise("cause"))
e := try(Exception raise("effect", cause))
e error println
e nestedException error println
try(Exception raise("single")) nestedException println
