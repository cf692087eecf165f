# A few thousand keys are put, replaced, found and removed.
m := Map clone
3000 repeat(i, m atPut("key" .. i, i))
m size println
m at("key2999") println
m at("key3000") println
3000 repeat(i, m atPut("key" .. i, i * 2))
m size println
m at("key1500") println
1500 repeat(i, m removeAt("key" .. i))
m size println
m hasKey("key1499") println
m hasKey("key1500") println
