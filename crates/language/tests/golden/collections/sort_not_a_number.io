# A number that is not a number has no place in an order; a long list with such is sorted all the same, and loses none.
items := List clone
for(i, 1, 3000, items append(if(i % 3 == 0, 0/0, (i * 7919) % 1000)))
items sortInPlace
items size println
items select(isNan) size println
words := List clone
for(i, 1, 100, words append("w" .. ((i * 37) % 100)))
words sort first println
words sort last println
numbers := List clone
for(i, 1, 1000, numbers append((i * 7919) % 1000))
numbers sort first println
numbers sort last println
list(list(2, "b"), list(1), list(2, "a")) sort println
