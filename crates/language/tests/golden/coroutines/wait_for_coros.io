# Scheduler waitForCorosToComplete runs everything that can run.
# Deviates from upstream, whose queue keeps an entry of the parent that was resumed and so never empties.
log := List clone
3 repeat(i, coroDoLater(yield; log append("done")))
Scheduler waitForCorosToComplete
log println
Scheduler yieldingCoros size println
