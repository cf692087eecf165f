# A chain cut or extended after it has run is honoured by the next call.
f := method(3 squared negate)
f println
f println
getSlot("f") message next setNext
f println
getSlot("f") message next setNext("sqrt" asMessage)
f println
getSlot("f") message setNext("+ 1" asMessage)
f println
