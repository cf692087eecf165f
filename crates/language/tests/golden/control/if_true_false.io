# ifTrue and ifFalse run their argument and return the receiver.
true ifTrue("T" println) println
true ifFalse("F" println) println
false ifTrue("T" println) println
false ifFalse("F" println) println
(1 < 2) ifTrue("less" println) ifFalse("not less" println)
