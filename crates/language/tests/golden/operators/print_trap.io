# A message after an operand belongs to the operand, not to the whole sum.
1 + 1 println
r := 2 * 3 println
r println
(2 * 3) println
