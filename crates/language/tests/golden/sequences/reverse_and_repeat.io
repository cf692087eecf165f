# reverse, repeated, asList, sort.
"abc" reverse println
"ab" repeated(3) println
"cab" asMutable sort println
"abc" asMutable reverseInPlace println
"a" repeated(0) size println
"hello" asList unique join println
