# Blocks nest: the inner one reaches the locals of both its makers.
outer := method(a,
  block(b,
    block(c, list(a, b, c))
  )
)
f := outer(1)
g := f call(2)
h := f call(20)
g call(3) println
h call(30) println
g call(4) println
