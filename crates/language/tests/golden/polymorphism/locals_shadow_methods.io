# A local of the same name as a method of the receiver wins in the method's body.
o := Object clone do(
  size := method("method size")
  a := method(size)
  b := method(size := "local size"; size)
  c := method(size, size)
  d := method(size := "local size"; self size)
)
o a println
o b println
o c("argument size") println
o c println
o d println
