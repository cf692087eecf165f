# A Map prints as what would make it; an exception as what went wrong and where.
Map clone println
Map with("a", 1, "b", "text", "c", list(1, nil)) println
list(Map with("k", 1)) println
Map with("outer", Map with("inner", 1)) asString println
Map with("key", "a text that is much longer than forty characters are") asSimpleString println
e := try(list(1) at)
e println
e asSimpleString println
try(Exception raise("no luck")) println
ring := Map with("a", 1)
ring atPut("self", ring) println
list(ring) println
ring atPut("list", list(ring)) println
