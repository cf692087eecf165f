# return leaves the whole method from inside any loop.
a := method(for(i, 1, 10, if(i == 4, return i)); "end")
a println
b := method(list(5, 6, 7) foreach(v, if(v == 6, return v * 10)); "end")
b println
c := method(loop(return "loop"); "end")
c println
d := method(10 repeat(i, if(i == 2, return "repeat " .. i)); "end")
d println
e := method(while(true, if(true, return "while")); "end")
e println
f := method(list(1, 2) foreach(v, list(3) foreach(w, return v + w)); "end")
f println
g := method("ab" foreach(c, return c); "end")
g println
h := method(list(1, 2, 3) reverseForeach(v, return v); "end")
h println
