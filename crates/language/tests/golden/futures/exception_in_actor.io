# An exception in an asynchronous message goes to handleActorException; later messages are still done.
log := List clone
Worker := Object clone do(
  handleActorException := method(e, log append("handled " .. e error))
  bad := method(Exception raise("bad job"))
  good := method(log append("good job"))
)
Worker @@bad
Worker @@good
6 repeat(yield)
log println
