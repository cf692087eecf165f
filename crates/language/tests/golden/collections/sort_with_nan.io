// nan compares with nothing, so lists that held one came out in no order. It sorts last, wherever it stands.
nan := 0 / 0
list(1, nan, 2) sort println
list(3, nan, 1, nan, 2) sort println
list(nan, 3, 2, 1) sort println
big := list()
100 repeat(i, big append(if(i % 10 == 0, nan, 100 - i)))
sorted := big sort
sorted slice(0, 5) println
sorted slice(88, 92) println
list(nan, "b", 2, "a", 1) sort map(asString) slice(0, 2) size println
