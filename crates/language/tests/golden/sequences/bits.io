# Bit operations on sequences.
a := "a" asMutable
a bitwiseAnd("c") println
"a" asMutable bitwiseOr("b") println
"a" asMutable bitwiseXor(" ") println
"abc" bitCount println
"a" bitAt(0) println
"a" bitAt(1) println
