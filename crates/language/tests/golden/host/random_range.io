# Not in upstream's core any more. Random numbers stay in the range asked for; the same seed gives the same numbers.
Random setSeed(7)
a := list(Random value, Random value(10), Random value(5, 6))
Random setSeed(7)
b := list(Random value, Random value(10), Random value(5, 6))
(a == b) println
(a at(0) >= 0 and a at(0) < 1) println
(a at(1) >= 0 and a at(1) < 10) println
(a at(2) >= 5 and a at(2) < 6) println
