# append, push, prepend, pop, removeFirst, removeLast.
l := list(2)
l push(3) println
l prepend(1) println
l append(4, 5) println
l pop println
l removeLast println
l removeFirst println
l println
list() pop println
list() removeFirst println
