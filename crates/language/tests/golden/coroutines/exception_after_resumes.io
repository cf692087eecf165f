# An exception after several switches is caught by the try around it; recentInChain is where such a coroutine goes on.
main := Scheduler currentCoroutine
log := List clone
c := coroFor(
  e := try(
    log append("a"); main resume
    log append("b"); main resume
    Exception raise("at last")
  )
  log append("caught " .. e error)
)
c resume
log append("main 1")
c recentInChain resume
log append("main 2")
c recentInChain resume
log append("main 3")
c isFinished println
log println
