# setCachedResult on a literal of a method body changes what the method returns.
f := method(5)
f println
lit := getSlot("f") message
lit setCachedResult(6)
f println
lit setCachedResult("now text")
f println
lit removeCachedResult
lit setName("answer")
answer := 42
f println
