# Operations on empty text.
"" size println
"" isEmpty println
"" reverse size println
"" asUppercase size println
"" findSeq("a") println
"abc" findSeq("") println
"" at(0) println
"" split println
"" asList println
("" hash == "" hash) println
