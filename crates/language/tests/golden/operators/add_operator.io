# An operator added at run time holds for code parsed afterwards.
OperatorTable addOperator("<=>", 5)
Number setSlot("<=>", method(o, if(self < o, -1, if(self == o, 0, 1))))
doString("(3 <=> 1 + 1) println")
doString("(1 + 1 <=> 2) println")
doString("message(a <=> b + c) println")
