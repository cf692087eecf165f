# lexicalDo evaluates on the object and also sees the caller's locals.
f := method(
  local := "seen"
  o := Object clone lexicalDo(x := local)
  o x
)
f println
g := method(n, Object clone lexicalDo(y := n + 1) y)
g(41) println
Object clone lexicalDo(z := 1) hasLocalSlot("z") println
