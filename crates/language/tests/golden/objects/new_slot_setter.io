# ::= makes a slot and a setter that returns the object.
P := Object clone do(width ::= 1; height ::= 2)
o := P clone setWidth(10) setHeight(20)
o width println
o height println
P width println
o hasLocalSlot("width") println
P hasLocalSlot("setWidth") println
