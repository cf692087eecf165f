# Scheduler waitForCorosToComplete runs everything that can run.
log := List clone
3 repeat(i, coroDoLater(yield; log append("done")))
Scheduler waitForCorosToComplete
log println
Scheduler yieldingCoros size println
