# Arguments are evaluated left to right: the first may still change the second.
show := method(a, b, list(a, b))
m := message(show(edit, 1))
edit := method(m argAt(1) setCachedResult("edited"); "first")
m doInContext(Lobby) println
n := message(show(swap, other))
other := "old"
another := "new"
swap := method(n argAt(1) setName("another"); "first")
n doInContext(Lobby) println
