# A bounded buffer between two coroutines that yield when they cannot go on.
# Deviates from upstream, whose queue keeps an entry of the parent that was resumed and so never empties.
buffer := List clone
log := List clone
done := false
coroDoLater(
  for(i, 1, 5,
    while(buffer size >= 2, yield)
    buffer append(i)
  )
  done = true
)
coroDoLater(
  loop(
    if(buffer size > 0, log append(buffer removeFirst), if(done, break, yield))
  )
)
while(Scheduler yieldingCoros size > 0, yield)
log println
