# clone calls init of the proto chain on the new object; cloneWithoutInit does not.
log := List clone
A := Object clone do(
  init := method(log append("init"); self items := List clone)
)
x := A clone
y := A clone
x items append(1)
y items size println
log size println
A cloneWithoutInit hasLocalSlot("items") println
log size println
B := A clone
b := B clone
b hasLocalSlot("items") println
