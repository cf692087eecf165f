# A coroutine resumed again and again goes on where it stopped, with its locals.
main := Scheduler currentCoroutine
out := List clone
fibs := method(a := 0; b := 1; loop(out append(a); t := a + b; a = b; b = t; main resume))
c := coroFor(fibs)
10 repeat(c resume)
out println
c isFinished println
