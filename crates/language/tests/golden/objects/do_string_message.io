# doString and doMessage evaluate text and messages on the receiver.
o := Object clone do(a := 5)
o doString("a + 1") println
o doString("b := a * 2")
o b println
o doMessage(message(a - 1)) println
a := 100
o doMessage(message(a + a), Lobby) println
Lobby doString("1; 2; 3") println
o doString("") println
