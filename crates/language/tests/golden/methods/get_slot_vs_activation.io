# Naming a slot activates a method in it; getSlot fetches it untouched.
f := method(x, if(x, x, "no argument"))
f println
getSlot("f") type println
getSlot("f") argumentNames println
g := getSlot("f")
g("via g") println
getSlot("f") call println
o := Object clone do(m := method("m called"))
o getSlot("m") type println
x := o m
x println
