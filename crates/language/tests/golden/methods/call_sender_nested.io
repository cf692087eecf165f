# call sender is the caller's locals: its variables can be read and set from the callee.
peek := method(call sender secret)
poke := method(call sender setSlot("made", 7))
f := method(
  secret := "inner secret"
  poke
  list(peek, made)
)
f println
viaIf := method(secret := "in if"; if(true, peek))
viaIf println
viaBlock := method(secret := "in block"; block(peek) call)
viaBlock println
