# Two blocks made in one call share the same variable.
pair := method(
  total := 0
  list(block(x, total = total + x; total), block(total))
)
p := pair
p at(0) call(5) println
p at(0) call(7) println
p at(1) call println
q := pair
q at(1) call println
