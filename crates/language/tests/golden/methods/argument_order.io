# Arguments are evaluated once each, left to right, in the caller's context, before the body.
log := List clone
note := method(x, log append(x); x)
f := method(a, b, c, log append("body"); a + b + c)
f(note(1), note(2), note(3)) println
log println
