# Building a buffer: appendSeq, prependSeq, atInsertSeq, append, empty.
s := Sequence clone
s appendSeq("a", 1, "b") println
s prependSeq("x", "y") println
s atInsertSeq(2, "--") println
s append(33) println
s size println
s empty size println
try("lit" appendSeq("x")) error println
