# Each message knows the line it was read from; label is settable.
m := "a
b

c" asMessage
m lineNumber println
m next next lineNumber println
m last lineNumber println
m setLabel("somewhere") label println
m setLineNumber(99) lineNumber println
