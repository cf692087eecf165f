# name, next and argCount walk a chain; past the end next is nil.
m := message(first(1, 2) second third)
m name println
m argCount println
m next name println
m next argCount println
m next next name println
m next next next println
m last name println
m previous println
