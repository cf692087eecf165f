# One call site meets objects of many kinds and answers right for each, again and again.
ask := method(shape, shape area)
Square := Object clone do(side := 2; area := method(side * side))
Rect := Object clone do(w := 2; h := 5; area := method(w * h))
Dot := Object clone do(area := 0)
Weird := Object clone do(forward := method("forwarded " .. call message name))
shapes := list(Square, Rect, Dot, Weird, Square clone, Rect clone do(h := 7))
3 repeat(shapes map(s, ask(s)) println)
