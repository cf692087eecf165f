# An operator renamed in the middle of a loop is used from the next round on.
f := method(a, b, a + b)
sum := list
for(i, 1, 6,
  if(i == 3, getSlot("f") message next setName("-"))
  if(i == 5, getSlot("f") message next setName("*"))
  sum append(f(10, i))
)
sum println
