# Each object has its own queue and coroutine.
log := List clone
Worker := Object clone do(
  id := 0
  job := method(for(i, 1, 2, log append(id asString .. "." .. i); yield))
)
w1 := Worker clone do(id := 1)
w2 := Worker clone do(id := 2)
w1 @@job
w2 @@job
10 repeat(yield)
log sort println
w1 hasLocalSlot("actorCoroutine") println
Worker hasLocalSlot("actorCoroutine") println
