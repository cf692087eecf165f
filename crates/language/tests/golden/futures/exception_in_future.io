# A future whose work fails never gets a result; its holder can go on as long as it does not ask.
log := List clone
Worker := Object clone do(
  handleActorException := method(e, log append(e error))
  bad := method(Exception raise("no result"))
  good := method("fine")
)
f := Worker @bad
g := Worker @good
g size println
log println
