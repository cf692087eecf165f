# clone copies a map; asObject turns keys into slots; asMap comes back from pairs.
m := Map with("n", 1)
k := m clone
k atPut("n", 2)
m at("n") println
o := Map with("name", "Io", "age", 24) asObject
o name println
o age println
list(list("a", 1), list("b", 2)) asMap keys sort println
