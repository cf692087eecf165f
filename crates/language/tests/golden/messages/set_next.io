# setNext re-links a chain; setNext(nil) or no argument cuts it.
m := message(a b c)
m next setNext(message(x y))
m println
m setNext(nil)
m println
n := message(p q)
n setNext
n println
n next println
