# clone and itemCopy are shallow copies; assignment shares.
inner := list(1)
a := list(inner, 2)
b := a clone
b append(3)
a size println
b first append(9)
a first println
c := a
c append("shared")
a size println
(list(1, 2) == list(1, 2)) println
(list(1, 2) == list(2, 1)) println
list(1, 2) isIdenticalTo(list(1, 2)) println
