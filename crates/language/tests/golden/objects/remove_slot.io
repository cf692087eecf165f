# removeSlot and removeAllSlots.
o := Object clone do(a := 1; b := 2)
o removeSlot("a")
o hasSlot("a") println
o removeSlot("missing") type println
o removeAllSlots
o slotNames println
