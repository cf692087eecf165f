# Maps: atPut, at with and without default, hasKey, size, removeAt.
m := Map clone
m atPut("a", 1) atPut("b", 2)
m at("a") println
m at("z") println
m at("z", "default") println
m hasKey("a") println
m hasKey("z") println
m hasValue(2) println
m size println
m removeAt("a")
m keys println
m isEmpty println
m empty isEmpty println
