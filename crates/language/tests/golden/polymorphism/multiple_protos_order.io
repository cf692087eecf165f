# Lookup goes through the protos depth first, in order.
Top := Object clone do(x := "top"; only := "top only")
Left := Top clone do(y := "left")
Right := Top clone do(x := "right"; y := "right"; z := "right")
o := Object clone setProtos(list(Left, Right))
o x println
o y println
o z println
o only println
Left x := "left"
o x println
Left removeSlot("y")
o y println
