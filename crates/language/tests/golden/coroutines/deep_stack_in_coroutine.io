# Switching works from deep inside nested calls.
log := List clone
down := method(n, if(n == 0, log append("bottom"); yield; log append("bottom again"), down(n - 1)))
coroDoLater(down(200); log append("up"))
log append("main")
yield
log append("main again")
yield
log append("end")
log println
