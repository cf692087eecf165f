# perform sends a message by name; performWithArgList takes the arguments from a list.
5 perform("+", 3) println
list(3, 1, 2) perform("sort") println
"hello" performWithArgList("exSlice", list(1, 3)) println
o := Object clone do(m := method(a, b, list(a, b)); v := 10)
o perform("m", 1, 2) println
o perform("m", 1) println
o perform("v") println
name := "asUppercase"
"dynamic" perform(name) println
