# do evaluates on the object: new slots land there; the caller's locals are out of sight.
o := Object clone do(a := 1; b := a + 1)
o b println
o do(c := b * 10)
o c println
o do(thisContext isIdenticalTo(o) println)
f := method(
  local := "f's local"
  try(Object clone do(x := local)) error
)
f println
