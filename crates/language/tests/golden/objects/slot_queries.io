# hasSlot, hasLocalSlot, getSlot, getLocalSlot, slotNames, slotValues.
P := Object clone do(a := 1)
o := P clone do(b := 2)
o hasSlot("a") println
o hasLocalSlot("a") println
o hasSlot("zz") println
o getSlot("a") println
o getLocalSlot("a") println
o getLocalSlot("b") println
o getSlot("zz") println
o slotNames println
o slotValues println

# slotNamesOfKind: plain objects alone.
Animal := Object clone
farm := Object clone do(cow := Animal clone; calf := cow clone; count := 2; name := "farm"; all := list(cow); feed := method(cow); stone := Object clone)
farm slotNamesOfKind(Animal) sort println
farm slotNamesOfKind(List) println
Object clone slotNamesOfKind(Object) println
