# Renaming a message that reads a local makes it read another one.
f := method(a, b, a)
3 repeat(f(1, 2))
f(1, 2) println
getSlot("f") message setName("b")
f(1, 2) println
getSlot("f") message setName("c")
c := "from the lobby"
f(1, 2) println
getSlot("f") setArgumentNames(list("a", "c"))
f(1, 2) println
