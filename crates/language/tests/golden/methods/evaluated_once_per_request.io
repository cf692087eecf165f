# call evalArgAt evaluates anew each time; a parameter once.
n := 0
next := method(Lobby n := Lobby n + 1)
param := method(a, list(a, a, a))
param(next) println
lazy := method(list(call evalArgAt(0), call evalArgAt(0), call evalArgAt(0)))
lazy(next) println
