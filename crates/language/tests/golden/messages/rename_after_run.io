# A message renamed after it has run takes effect at the next evaluation.
o := Object clone do(
  left := method("left!")
  right := method("right!")
)
turn := method(o left)
turn println
turn println
getSlot("turn") message next setName("right")
turn println
getSlot("turn") message next setName("left")
turn println
