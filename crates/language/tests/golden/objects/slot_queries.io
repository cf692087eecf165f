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
