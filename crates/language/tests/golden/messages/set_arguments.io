# setArguments replaces all arguments by the messages of a list.
m := message(f(1, 2, 3))
m setArguments(list(message(x), message(y z)))
m println
m setArguments(list())
m println
m argCount println
