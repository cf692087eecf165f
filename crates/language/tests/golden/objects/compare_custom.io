# An object's own < and == are used when sent; sortBy and sortByKey order objects by what they hold.
Card := Object clone do(
  rank := 0
  with := method(r, c := self clone; c rank := r; c)
  setSlot("<", method(o, rank < o rank))
)
a := Card with(3)
b := Card with(7)
(a < b) println
(b < a) println
cards := list(b, a, Card with(5))
cards sortBy(block(x, y, x < y)) map(rank) println
cards sortByKey(rank) map(rank) println
cards sortByKey(c, c rank negate) map(rank) println
cards map(rank) println
