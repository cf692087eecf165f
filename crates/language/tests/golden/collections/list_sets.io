# unique, union, intersect, difference, uniqueCount.
# Deviates from upstream, which quotes the items of nested lists twice.
list(1, 2, 1, 3, 2) unique println
list(1, 2) union(list(2, 3)) println
list(1, 2, 3) intersect(list(2, 3, 4)) println
list(1, 2, 3) difference(list(2)) println
list("a", "b", "a") uniqueCount println
