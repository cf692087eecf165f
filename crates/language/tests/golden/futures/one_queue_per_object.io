# Messages to one object are processed in order, one after the other, with a yield between.
log := List clone
A := Object clone do(job := method(n, log append("A" .. n)))
B := Object clone do(job := method(n, log append("B" .. n)))
A @job(1); A @job(2)
B @job(1); B @job(2)
log append("main")
10 repeat(yield)
log println
