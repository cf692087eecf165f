# setIsActivatable turns a value in a slot into something that runs when named.
b := block("ran")
b type println
b setIsActivatable(true)
b println
getSlot("b") isActivatable println
getSlot("b") setIsActivatable(false)
b type println
list(1) isActivatable println
method(1) isActivatable println
block(1) isActivatable println
