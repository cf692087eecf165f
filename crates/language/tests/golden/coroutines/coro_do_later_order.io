# coroDoLater puts the newest coroutine first in the queue.
log := List clone
coroDoLater(log append("first made"))
coroDoLater(log append("second made"))
coroDoLater(log append("third made"))
log append("main")
while(Scheduler yieldingCoros size > 0, yield)
log println
