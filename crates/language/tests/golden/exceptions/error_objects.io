# Error values that are returned, not raised: ifError, isError, raiseIfError.
f := method(n, if(n < 0, Error with("negative"), n))
f(1) isError println
f(-1) isError println
f(-1) message println
f(-1) ifError(e, ("seen: " .. e message) println) isError println
f(2) ifError("not run" println) println
# Upstream raises nil here, because a bare `message` in a method is the primitive of Locals; the text is meant.
try(f(-1) raiseIfError) error println
g := method(f(-1) returnIfError; "unreached")
g message println
h := method(f(1) returnIfError; "reached")
h println
