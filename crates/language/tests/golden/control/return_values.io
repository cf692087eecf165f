# return without argument gives nil; a method without return gives its last value.
a := method(return)
a println
b := method(return 5; 6)
b println
c := method(1; 2; 3)
c println
d := method()
d println
e := method(return(1 + 2) * 100)
e println
f := method(x, x ifTrue(return "was true"); "was false")
f(true) println
f(false) println
