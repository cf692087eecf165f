# addTrait copies slots; clashes need a new name.
Loud := Object clone do(shout := method("HEY"); type := "Loud")
o := Object clone
o addTrait(Loud)
o shout println
c := Object clone do(shout := "mine")
c addTrait(Loud, Map with("shout", "traitShout"))
c shout println
c traitShout println
