# A new assign operator turns a name and a value into a message.
OperatorTable addAssignOperator("+=", "addAssign")
Object addAssign := method(name, value, self setSlot(name, self getSlot(name) + value))
doString("n := 5; n += 3; n println")
doString("message(total += 2 * 3) println")
doString("message(o total += 1) println")
