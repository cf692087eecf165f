# asMessageWithEvaluatedArgs replaces each argument by its value in the context.
x := 5
m := message(f(x + 1, "k"))
e := m asMessageWithEvaluatedArgs
e argAt(0) cachedResult println
e argAt(1) cachedResult println
x = 50
e argAt(0) cachedResult println
m argAt(0) println
f := method(a, b, a asString .. b)
e doInContext(Lobby) println
m doInContext(Lobby) println
