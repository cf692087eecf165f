# Bare parentheses are a message with an empty name; brackets and braces have names.
message((1 + 2) * 3) println
message((1 + 2) * 3) name size println
message([1, 2]) println
message([1, 2]) name println
message({a}) println
message({a}) name println
message(x[1]) println
