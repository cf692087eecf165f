# := defines on the receiver, = updates the nearest holder's name but writes to the receiver.
P := Object clone do(v := 1)
o := P clone
o v = 2
o v println
P v println
o hasLocalSlot("v") println
try(o w = 3) error println
o w := 3
o w println
