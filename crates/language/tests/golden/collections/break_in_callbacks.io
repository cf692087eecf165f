# break and return inside foreach; detect as the value of a method.
f := method(list(1, 2, 3) foreach(v, if(v == 2, return "returned")); "end")
f println
r := list(1, 2, 3, 4) foreach(v, if(v == 3, break); v)
r println
g := method(list(1, 2, 3) detect(v, v == 2))
g println
