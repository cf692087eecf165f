# A coroutine keeps its own stack of locals across switches; the context of its code is shared.
log := List clone
count := method(name, n,
  total := 0
  for(i, 1, n, total = total + i; yield)
  log append(name .. "=" .. total)
)
coroDoLater(count("x", 10))
coroDoLater(count("y", 5))
20 repeat(yield)
log println
