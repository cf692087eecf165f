# doInContext evaluates a message with the given target and locals.
Box := Object clone do(w := 3; h := 4)
m := message(w * h)
m doInContext(Box) println
# With separate locals the first message goes to the target, arguments are evaluated in the locals.
h := 200
m doInContext(Box, Lobby) println
message(w + h) doInContext(Box, Lobby) println
message(w; h) doInContext(Box, Lobby) println
