# A redefined Number + is honoured in code that already ran, and so is its removal.
add := method(a, b, a + b)
10 repeat(add(1, 2))
add(1, 2) println
old := Number getSlot("+")
Number setSlot("+", method(o, "plus(" .. self .. ", " .. o .. ")"))
add(1, 2) println
Number setSlot("+", getSlot("old"))
add(1, 2) println
