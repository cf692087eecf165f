# Ways to call a block: call, callWithArgList, performOn, and setIsActivatable.
b := block(a, b, list(a, b))
b call(1, 2) println
b callWithArgList(list(3, 4)) println
b setIsActivatable(true)
b(5, 6) println
getSlot("b") setIsActivatable(false)
b call(7) println
m := method(x, list(self type, x))
getSlot("m") performOn(12, Lobby, message(m("arg"))) println
