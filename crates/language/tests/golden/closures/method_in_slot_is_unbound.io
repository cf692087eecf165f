# A method moved to another object takes its self from the new receiver; a block does not.
A := Object clone do(v := "A's v"; m := method(v); b := block(v))
B := Object clone do(v := "B's v")
B m := A getSlot("m")
B m println
v := "Lobby's v"
A m println
blk := A getSlot("b")
blk call println
