# Kinds print by their type; methods in a list print in short form.
list(block(x, y, x), method(1)) println
list(message(a + b)) println
list(Map, Sequence) size println
