# yield takes turns: two coroutines and the main one in a round robin.
log := List clone
a := coroDoLater(for(i, 1, 3, log append("a" .. i); yield))
b := coroDoLater(for(i, 1, 3, log append("b" .. i); yield))
5 repeat(log append("main"); yield)
log println
