# A message that is there twice prints twice, and shuffling keeps both. One that contains itself is cut there.
m := message(foo)
twice := message(bar) clone setArguments(list(m, m))
twice println
twice opShuffleC
twice println
twice argCount println
m := message(a)
nested := message(f) clone setArguments(list(m, message(g) clone setArguments(list(m))))
nested println
first := message(one)
rest := message(three)
first setNext(rest)
both := message(pair) clone setArguments(list(first, rest))
both println
ring := message(f(x, y))
ring setArguments(list(message(x), ring))
ring println
