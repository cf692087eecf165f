# split on white space, on separators, splitNoEmpties, splitAt.
"one two  three" split println
"a,b,,c" split(",") println
"a,b;c" split(",", ";") println
"a,,b" splitNoEmpties(",") println
"abcdef" splitAt(2) println
"" split(",") println
"nosep" split(",") println
"a--b" split("--") println
