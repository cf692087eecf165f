# setSlot returns the value; updateSlot needs an existing slot.
o := Object clone
o setSlot("a", 5) println
o updateSlot("a", 6) println
o a println
try(o updateSlot("b", 1)) error println
(o c := 7) println
o setSlot("with space", "odd name")
o getSlot("with space") println
o perform("with space") println
