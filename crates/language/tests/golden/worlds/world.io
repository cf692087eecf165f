// A world sees everything, and what is written in it only it sees, until it is committed.
x := 1
items := list(1, 2)
world := World clone
world run(x = 2; items append(3); y := 5; x) println
list(x, items, hasSlot("y")) println
world run(list(x, items, y) asString) println
world isEmpty println

// What happens outside meanwhile is seen inside, slot by slot.
z := 9
world run(list(x, z)) println
world commit
list(x, items, y, z) println
world isEmpty println

// Discarded, it never was.
world run(x = 100)
world discard
list(x, world run(x)) println

// A run that fails leaves the world as it was.
world run(x = 3)
try(world run(x = 4; Exception raise("no"))) error println
list(x, world run(x)) println
world discard

// Worlds nest, and several may differ.
a := World clone
b := World clone
a run(x = "a"; b run(x = "b"; x println); x println)
list(x, a run(x)) println
a run(b run(x)) println
b commit
x println
a commit
x println

// Code, too.
greet := method("hello")
dream := World clone
dream run(greet = method("goodbye"))
list(greet, dream run(greet), greet) println
dream commit
greet println

// Many are made, written to and thrown away.
1000 repeat(i, World clone run(x = i) )
x println
