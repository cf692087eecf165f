# What an exception tells: error, the coroutine it came from, the raised kind.
e := try(Exception raise("text"))
e error println
e coroutine type println
e originalCall println
e2 := try(Exception raise(42))
e2 error println
e3 := try(Exception raise)
e3 error println
e4 := Exception clone setError("made by hand")
try(e4 pass) error println
