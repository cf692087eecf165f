# foreach on Map and Sequence; Map order is not defined, so collect and sort.
keys := List clone
Map with("b", 2, "a", 1) foreach(k, v, keys append(k .. v))
keys sort println
"abc" foreach(c, write(c, " ")); writeln
"abc" foreach(i, c, write(i, ":", c asCharacter, " ")); writeln
sum := 0
Map with("x", 10, "y", 20) foreach(k, v, sum = sum + v)
sum println
