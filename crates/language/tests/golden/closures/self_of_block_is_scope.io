# In a block, self is the context that made it, a method's locals, which pass on to the receiver what they lack.
o := Object clone do(
  name := "receiver"
  m := method(
    local := "of the method"
    block(self made := "by block"; list(self local, self name)) call println
    list(made, self hasLocalSlot("made"), thisLocalContext hasLocalSlot("made"))
  )
  n := method(block(self isIdenticalTo(call sender)) call)
  deep := method(block(block(name) call) call)
)
o m println
o n println
o deep println
b := block(self isIdenticalTo(Lobby))
b call println
