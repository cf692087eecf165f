# Every object ends its protos at the Lobby: a slot set there is seen everywhere.
shared := "from the lobby"
Object clone shared println
5 shared println
"text" shared println
o := Object clone do(m := method(shared))
o m println
o shared := "own"
o m println
Lobby hasLocalSlot("shared") println
