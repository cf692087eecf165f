# An assignment in the message of select finds its slot through the context, and ends there.
c := 8
list(1, 2) select(x, c = x + 10; true) println
c println
