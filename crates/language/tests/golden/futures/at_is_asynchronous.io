# @ queues the message and returns at once; the work happens when the caller yields.
log := List clone
Worker := Object clone do(job := method(n, log append("job " .. n); n * 2))
f := Worker @job(21)
log append("sent")
log println
yield
log println
