# @@ does the same without a future: it returns nil.
log := List clone
Worker := Object clone do(job := method(n, log append(n)))
(Worker @@job(1)) println
(Worker @@job(2)) println
5 repeat(yield)
log println
