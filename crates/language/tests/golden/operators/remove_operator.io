# Removing an operator makes its symbol an ordinary name in code parsed later.
OperatorTable addOperator("plus", 3)
Number plus := method(n, self + n)
doString("message(1 plus 2) println")
OperatorTable operators removeAt("plus")
doString("message(1 plus 2) println")
doString("1 plus(2) println")
