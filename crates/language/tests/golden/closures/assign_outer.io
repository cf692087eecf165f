# Assignment with = in a block updates the enclosing local; := makes a local of the block.
f := method(
  x := 1
  y := 1
  block(x = 2; y := 2) call
  list(x, y)
)
f println
z := 0
block(z = z + 5) call
z println
