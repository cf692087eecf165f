# A future whose work fails never gets a result; its holder can go on as long as it does not ask.
# Deviates from upstream, which resends the rest of the chain with the message.
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
