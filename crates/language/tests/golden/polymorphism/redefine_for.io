# A for or while of the receiver wins when sent to it; a bare one in a method is that of Locals.
L := Object clone do(
  for := method("own for with " .. call argCount)
  while := method("own while")
  bare := method(for(i, 1, 3, i * 2))
  sent := method(self for(i, 1, 3, i * 2))
  spin := method(self while(true, nil))
)
L bare println
L sent println
L spin println
count := method(n, total := 0; for(i, 1, n, total = total + i); total)
count(4) println
oldFor := Locals getSlot("for")
Locals setSlot("for", method(call argCount))
count(4) println
Locals setSlot("for", getSlot("oldFor"))
count(4) println
