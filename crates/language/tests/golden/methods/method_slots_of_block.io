# A block is an object too: it has slots of its own, and clones.
f := method(1)
getSlot("f") note := "a note on f"
getSlot("f") note println
g := getSlot("f") clone
g println
getSlot("g") setMessage(message(2))
g println
f println
