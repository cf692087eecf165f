# sort by default order, by a block, by a key.
list(3, 1, 2) sort println
list("b", "C", "a") sort println
list(3, 1, 2) sortBy(block(a, b, a > b)) println
list("ccc", "a", "bb") sortByKey(size) println
list("ccc", "a", "bb") sortByKey(s, s size negate) println
l := list(2, 3, 1)
l sort println
l println
l sortInPlace println
l println
l sortInPlaceBy(block(a, b, b < a)) println
list(10, 9, 1) sortKey(v, v) sort(>) println
