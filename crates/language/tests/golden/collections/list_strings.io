# How lists print: strings quoted and escaped, nested lists as lists.
# Deviates from upstream, which quotes the items of nested lists twice.
list(1, "a\n\"b\"", 2.5, nil, true) println
list(list(1, "x"), list()) println
list("a") asString println
list(1, list(2, list(3))) asString println
writeln("in text: ", list("q", 1))
("cat " .. list(1, 2)) println
