# Comparisons associate to the left and are messages like any other.
(1 < 2) println
(3 > 2) == true println
((3 > 2) == true) println
(1 <= 1) println
("a" < "b") println
("a" == "a") println
("a" != "b") println
(list(1, 2) == list(1, 2)) println
(nil == false) println
(1 == 1.0) println
