# flatten goes all the way down; join concatenates.
list(1, list(2, list(3, list(4)))) flatten println
list("a", "b", "c") join println
list("a", "b", "c") join(", ") println
list() join("-") size println
list("only") join("-") println
list("n", 1) join println
list(1, 2.5, 3) join("/") println
