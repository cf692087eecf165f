# A literal replaced in the middle of a loop is used from the next round on.
f := method(x, x + 1)
out := list
for(i, 1, 5,
  if(i == 3, getSlot("f") message next argAt(0) setCachedResult(100))
  out append(f(i))
)
out println
getSlot("f") message next argAt(0) removeCachedResult setName("x")
f(21) println
