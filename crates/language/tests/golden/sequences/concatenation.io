# .. makes a new symbol from the strings of both sides.
("a" .. "b" .. 3) println
("n=" .. 1 + 2) println
(1 .. 2) println
("" .. nil) println
("x" .. list(1)) println
s := "abc"
t := s .. "d"
s println
t println
