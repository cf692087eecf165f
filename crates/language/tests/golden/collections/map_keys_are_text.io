# Keys are compared by content, mutable or not; the key is kept as a symbol.
m := Map clone
s := "ke" asMutable appendSeq("y")
m atPut(s, "found")
m at("key") println
s appendSeq("changed")
m at("key") println
m hasKey("keychanged") println
m atPut("", "empty key")
m at("") println
