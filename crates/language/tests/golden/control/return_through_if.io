# return inside nested ifs and conditions leaves the method at once.
sign := method(n,
  if(n < 0, return -1)
  if(n == 0, return 0, if(n > 100, return "big"))
  1
)
list(-5, 0, 5, 500) map(n, sign(n)) println
g := method(if(return "in condition", 1); "end")
g println
h := method(x := (return "in assignment"); "end")
h println
