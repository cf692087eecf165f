//! Code is data
//! A method is a tree of messages, and messages are objects: read them, change them, go on.

area := method(width, height, width * height)
getSlot("area") message println
area(6, 7) println

getSlot("area") message next setName("+")
getSlot("area") message println
area(6, 7) println
