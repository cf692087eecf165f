# ?name sends the message only when there is such a slot; what follows the name belongs to it.
o := Object clone do(here := method(n, n * 2))
o ?here(21) println
o ?missing println
(o ?missing) println
(o ?missing(1, 2)) println
(o ?here(1) + 1) println
