# Texts of errors for misuse of super, resend and List methods (upstream ends some with a stray new line; we do not).
m := method(super)
try(m) error println
r := method(resend)
try(r) error println
try(list(1, 2) reduce) error println
try(list(1, 2) detect) error println
try(list atInsert(5, "x")) error println
try(list(1) removeAt(7)) error println
try(list(1) atPut(3, "x")) error println
try(Object clone addTrait) error println
