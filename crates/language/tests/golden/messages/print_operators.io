# Operators print shuffled: each takes the rest of its level as its argument.
message(1 + 2 * 3) println
message(1 * 2 + 3) println
message(a and b or c) println
message(a == b not) println
message(- x) println
message(a .. b .. c) println
message(!x) println
message(a ? b(c)) println
