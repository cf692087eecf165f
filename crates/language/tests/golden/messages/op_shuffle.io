# opShuffle applies the operator table to a chain built by hand.
m := Message clone setName("a")
m setNext(Message clone setName("+") setNext(Message clone setName("b")))
m println
m opShuffle
m println
m argCount println
m next argCount println
a := 20
b := 22
m doInContext(Lobby) println
