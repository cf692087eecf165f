# groupBy makes a Map of lists; cursor walks.
g := list("apple", "avocado", "bean") groupBy(v, v at(0) asCharacter)
g keys sort println
g at("a") println
list(1, 2, 3, 4) groupBy(isEven) at("true") println
c := list("x", "y") cursor
c value println
c next println
c value println
c next println
