# An own slot hides the proto's; removing it reveals the proto's again.
P := Object clone do(v := "proto"; m := method(v))
o := P clone
read := method(o v)
list(read, o m) println
o v := "own"
list(read, o m) println
P v = "proto changed"
list(read, o m) println
o removeSlot("v")
list(read, o m) println
