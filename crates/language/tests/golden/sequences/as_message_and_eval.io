# Text as code: asMessage and doString.
"1 + 2" asMessage println
doString("3 * 4") println
Lobby x := 10
"x + 1" asMessage doInContext(Lobby) println
o := Object clone do(x := 5)
o doString("x * 2") println
o doString("y := x + 1")
o y println
