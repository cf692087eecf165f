# A message tree can be built from nothing and run.
m := Message clone setName("foo")
m println
m appendArg(Message clone setName("bar"))
m appendArg(Message clone setCachedResult(3))
m argCount println
foo := method(a, b, a * b)
bar := 14
m doInContext(Lobby) println
m setNext(Message clone setName("negate"))
m doInContext(Lobby) println
