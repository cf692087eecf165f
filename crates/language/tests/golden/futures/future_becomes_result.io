# Sending a message to the future waits for the result, which it then is. (Upstream then runs the rest of the chain twice.)
Worker := Object clone do(add := method(a, b, a + b); name := method("wor" .. "ker"))
f := Worker @add(40, 2)
(f + 0) println
f println
f type println
g := Worker @name
g size println
g println
