# foreach with key and value, map, select, detect on maps.
m := Map with("a", 1, "b", 2, "c", 3)
out := list
m foreach(k, v, out append(k .. v))
out sort println
m map(k, v, k .. v * 10) sort println
m select(k, v, v > 1) keys sort println
m detect(k, v, v == 2) println
m select(k, v, false) size println
