# Own types answer operators at sites that also see numbers.
Money := Object clone do(
  cents := 0
  with := method(c, m := self clone; m cents := c; m)
  setSlot("+", method(o, with(cents + o cents)))
  setSlot("<", method(o, cents < o cents))
  setSlot("-", method(o, with(cents - o cents)))
  asString := method("$" .. cents)
)
add := method(a, b, a + b)
less := method(a, b, a < b)
3 repeat(add(1, 2); less(1, 2))
add(Money with(5), Money with(7)) println
less(Money with(5), Money with(7)) println
add(1, 2) println
less(2, 1) println
add(vector(1), vector(2)) asList println
(Money with(9) - Money with(4)) println
