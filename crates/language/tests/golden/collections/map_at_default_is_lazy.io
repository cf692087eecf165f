# The default of at and atIfAbsentPut is evaluated only when needed.
m := Map with("k", 1)
m at("k", "never" println) println
m atIfAbsentPut("k", "never" println) println
m atIfAbsentPut("new", 5 + 5) println
m at("new") println
m at("other", "now" println; 7) println
m hasKey("other") println
