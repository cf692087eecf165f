# return is an operator of the lowest level: it takes the whole expression.
f := method(x, return x + 1 * 2; "unreached")
f(3) println
g := method(if(true, return); "unreached")
g println
message(return a + b) println
message(if(a, return b c)) println
