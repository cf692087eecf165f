# A thousand coroutines, each yielding in the middle.
# Deviates from upstream, whose queue keeps an entry of the parent that was resumed and so never empties.
sum := 0
1000 repeat(i, coroDoLater(sum = sum + 1; yield; sum = sum + 1000))
while(Scheduler yieldingCoros size > 0, yield)
sum println
