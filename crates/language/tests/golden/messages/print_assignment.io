# Assignments print as the message they stand for.
message(a := 1) println
message(a = a + 1) println
message(a ::= 1) println
message(Point := Object clone) println
message(o x := 5; o y = 6) println
message(a := b := 3) println
