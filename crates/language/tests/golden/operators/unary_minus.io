# Minus before a literal is the message - sent to the current context's 0: it takes the whole rest.
-5 println
(-5) println
(-3 abs) println
(-(3) abs) println
(2 - -3) println
(2 * -3) println
x := -7
x println
(4-1) println
list(-1, -2) println
