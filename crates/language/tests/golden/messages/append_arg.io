# appendArg adds a message as last argument; appendCachedArg adds a value.
m := message(f(1))
m appendArg(message(2 + 3))
m println
m appendCachedArg(7)
m argCount println
m argAt(2) cachedResult println
f := method(a, b, c, list(a, b, c))
m doInContext(Lobby) println
