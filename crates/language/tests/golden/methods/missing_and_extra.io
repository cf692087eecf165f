# Missing arguments are nil; extra ones are not evaluated.
f := method(a, b, list(a, b))
f println
f(1) println
f(1, 2) println
f(1, 2, "extra" println) println
g := method("no args")
g(undefinedName) println
