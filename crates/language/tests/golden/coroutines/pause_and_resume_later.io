# pause takes the coroutine out of the queue until somebody puts it back with resumeLater.
log := List clone
worker := coroFor(
  log append("start")
  Scheduler currentCoroutine pause
  log append("woken")
)
Scheduler yieldingCoros append(Scheduler currentCoroutine)
worker resume
log append("main 1")
worker resumeLater
log append("main 2")
yield
log append("main 3")
log println
