# Sequence with, copy, itemCopy, clone.
Sequence with("a", "1", "b") println
try(Sequence with("a", 1)) error println
s := "orig" asMutable
c := s clone
c appendSeq("!")
s println
c println
d := s itemCopy appendSeq("?")
d println
s copy("replaced") println
"sym" clone type println
