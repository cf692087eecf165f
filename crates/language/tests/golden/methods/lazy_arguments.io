# An argument without a parameter stays a message; call evalArgAt evaluates it on demand.
unless := method(cond, if(cond, nil, call evalArgAt(1)))
unless(true, "never" println) println
unless(false, "once" println; "result") println
twice := method(call evalArgAt(0); call evalArgAt(0))
n := 0
twice(n = n + 1)
n println
