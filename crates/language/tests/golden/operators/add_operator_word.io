# A word can be an operator too.
OperatorTable addOperator("upto", 4)
Number upto := method(n, r := list; for(i, self, n, r append(i)); r)
doString("(1 upto 2 + 3) println")
doString("message(a upto b c) println")
doString("(1 upto 3) size println")
