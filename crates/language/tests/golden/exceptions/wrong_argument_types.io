# Texts of errors for arguments of the wrong type.
try(1 + "2") error println
try(1 + nil) error println
try("abc" exSlice("x")) error println
try(list(1) at("x")) error println
try(Map clone atPut(1, 2)) error println
try("abc" findSeq(5)) error println
try("a" .. Object) type println
