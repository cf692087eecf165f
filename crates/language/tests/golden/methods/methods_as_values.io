# Methods passed as values need getSlot to stay unactivated; blocks do not.
apply := method(f, x, f call(x))
apply(block(n, n * n), 7) println
applyMethod := method(x, g := call sender getSlot(call argAt(1) name); getSlot("g") call(x))
double := method(n, n * 2)
applyMethod(21, double) println
