# New arguments given to a message that has run are used at its next evaluation.
add := method(a, b, a + b)
f := method(add(1, 2))
f println
body := getSlot("f") message
body setArguments(list(message(10), message(add(20, 30))))
f println
body argAt(1) setArguments(list(message(1), message(1)))
f println
body appendArg(message("extra"))
f println
