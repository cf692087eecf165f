# foreach on a list: value; index and value; or a message sent to each.
l := list("a", "b", "c")
l foreach(v, write(v, " ")); writeln
l foreach(i, v, write(i, v, " ")); writeln
l foreach(println)
r := l foreach(v, v .. v)
r println
l foreach(i, v, if(i == 1, break))
i println
l reverseForeach(i, v, write(i, v, " ")); writeln
list() foreach(x, "never" println) println
