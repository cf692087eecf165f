# try inside a coroutine works across yields.
log := List clone
coroDoLater(
  e := try(yield; Exception raise("after yield"))
  log append("caught " .. e error)
)
3 repeat(log append("main"); yield)
log println
