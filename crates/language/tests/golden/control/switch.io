# switch compares the receiver with each key in turn and evaluates only the match.
name := method(n, n switch(1, "one", 2, "two", "other"))
list(1, 2, 3) map(n, name(n)) println
5 switch(1, "a") println
"b" switch("a", "A" println, "b", "B" println, "C" println)
f := method(x, x switch(1, return "returned"); "fell through")
f(1) println
f(2) println
