# An operator with parentheses right after it takes those as its argument; the chain goes on.
1 +(2) println
(1 +(2) *(10)) println
3 max(4) +(1) println
5 -(2) -(1) println
message(1 +(2) * 3) println
message(1 + (2) * 3) println
