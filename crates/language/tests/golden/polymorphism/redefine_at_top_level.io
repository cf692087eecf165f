# Control words redefined in the Lobby hold for the top level and for nobody else's methods.
f := method(if(true, "built-in", "?"))
f println
if := method("lobby's if")
if(true, 1, 2) println
f println
removeSlot("if")
if(true, 1, 2) println
