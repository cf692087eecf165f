# futureSend and asyncSend are the long names of @ and @@.
log := List clone
Worker := Object clone do(job := method(n, log append(n); n + 1))
f := Worker futureSend(job(1))
(f + 0) println
(Worker asyncSend(job(5))) println
3 repeat(yield)
log println
