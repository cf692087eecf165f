# A coroutine may run others; each ending hands control back to who started it.
log := List clone
inner := coroFor(log append("inner"))
outer := coroFor(log append("outer 1"); inner resume; log append("outer 2"))
log append("main 1")
outer resume
log append("main 2")
log println
