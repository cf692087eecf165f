# asMessage and Message fromString parse text into the same tree as source code.
"1 + 2 * 3" asMessage println
Message fromString("x := y foo(3)") println
Message fromString("a b") next name println
doMessage("3 squared + 4 squared" asMessage) println
"" asMessage name size println
