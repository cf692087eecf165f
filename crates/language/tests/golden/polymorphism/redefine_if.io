# if is a slot: of Locals for method bodies, of Object for the top level. A new one is honoured by code that already ran.
choose := method(x, if(x, "yes", "no"))
5 repeat(choose(true))
oldIf := Locals getSlot("if")
Locals setSlot("if", method(c, "replaced if of " .. c))
r := choose(true)
Locals setSlot("if", getSlot("oldIf"))
r println
choose(true) println
choose(nil) println
C := Object clone do(
  if := method(c, "own if of " .. c)
  bare := method(x, if(x, "yes", "no"))
  sent := method(x, self if(x, "yes", "no"))
)
# A bare if in a method is found in the locals before self is asked.
C bare(1) println
C sent(1) println
