# currentCoroutine and isCurrent name the one that runs.
main := Scheduler currentCoroutine
main isCurrent println
inside := nil
c := coroFor(inside = Scheduler currentCoroutine; main isCurrent println)
c resume
inside isIdenticalTo(c) println
main isCurrent println
c isCurrent println
