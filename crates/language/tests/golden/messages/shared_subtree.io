# One message object linked into two methods: an edit is seen by both.
shared := message(value + 1)
value := 10
f := method(nil) 
g := method(nil)
getSlot("f") setMessage(shared)
getSlot("g") setMessage(shared)
f println
g println
shared next argAt(0) setCachedResult(5)
f println
g println
shared setName("other")
other := 1000
f println
