# Texts of errors for changing an immutable sequence.
try("abc" appendSeq("d")) error println
try("abc" atPut(0, 65)) error println
try("abc" uppercase) error println
try("abc" reverseInPlace) error println
try("abc" removeAt(0)) error println
