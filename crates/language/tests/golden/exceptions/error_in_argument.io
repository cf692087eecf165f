# An error while an argument is evaluated prevents the call.
called := false
f := method(x, called = true)
e := try(f(Exception raise("in argument")))
e error println
called println
