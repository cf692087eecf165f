# What a coroutine was doing when it was left goes on after it, not again: `c resume` with c a local.
log := List clone
other := coroFor(log append("other"); Coroutine currentCoroutine parentCoroutine resume; log append("end"))
run := method(c, c resume)
run(other) type println
log append("main")
run(other) println
log println
