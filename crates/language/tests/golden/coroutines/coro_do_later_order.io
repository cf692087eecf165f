# coroDoLater puts the newest coroutine first in the queue.
# Deviates from upstream, whose queue keeps an entry of the parent that was resumed and so never empties.
log := List clone
coroDoLater(log append("first made"))
coroDoLater(log append("second made"))
coroDoLater(log append("third made"))
log append("main")
while(Scheduler yieldingCoros size > 0, yield)
log println
