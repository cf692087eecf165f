# A site that saw a value slot copes when the slot becomes a method, and back.
o := Object clone
o v := 1
get := method(o v)
3 repeat(get)
get println
o v := method("now a method")
get println
o v := list(1, 2)
get println
o setSlot("v", block("a block") setIsActivatable(true))
get println
