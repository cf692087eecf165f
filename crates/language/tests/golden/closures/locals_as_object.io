# The locals of a method are an object that can be returned and asked later.
f := method(x, y := x * 2; thisLocalContext)
l := f(21)
100 repeat(f(0))
l x println
l y println
l hasLocalSlot("x") println
l hasLocalSlot("zzz") println
