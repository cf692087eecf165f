# Cleaning up after a possible error, then passing it on.
log := List clone
withResource := method(
  log append("open")
  e := try(call evalArgAt(0))
  log append("close")
  e pass
)
withResource(log append("work"))
e := try(withResource(Exception raise("failed")))
e error println
log println
