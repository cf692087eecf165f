# Sequences compare byte by byte.
("a" < "b") println
("a" < "B") println
("abc" < "abcd") println
("b" > "abc") println
("a" == "a" asMutable) println
"a" compare("b") println
"b" compare("a") println
"a" compare("a") println
("10" == 10) println
("" == "") println
