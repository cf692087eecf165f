# scope of a block is where it was made, nil for a method; setScope moves it.
b := block(name)
name := "lobby name"
b call println
o := Object clone do(name := "object name")
b scope isIdenticalTo(Lobby) println
b setScope(o)
b call println
getSlot("b") scope isIdenticalTo(o) println
m := method(name)
getSlot("m") scope println
