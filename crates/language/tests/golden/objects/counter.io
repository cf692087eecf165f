# Counter: a whole number that is only added to.
visits := Counter clone
visits add; visits add(4)
visits value println
visits subtract(2) println
visits add(2) asNumber println
other := visits clone
other add
list(visits value, other value, Counter value) println
(1 + visits) println
try(visits add(0.5)) error println
try(visits add("one")) error println
try(visits add(9007199254740993)) error println
o := Object clone do(setSlot("add", Counter getSlot("add")))
try(o add(1)) error println
visits value println
visits type println
