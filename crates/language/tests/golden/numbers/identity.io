# Numbers equal by value; clone of a number is the same value.
(1 + 1 == 2) println
5 clone println
5 type println
5 isKindOf(Number) println
x := 5
y := x
y = y + 1
x println
5 hasLocalSlot("foo") println
