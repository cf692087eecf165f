# The variable of for is one slot of the enclosing context: blocks made in the loop all see its last value.
blocks := List clone
for(i, 1, 3, blocks append(block(i)))
blocks map(b, b call) println
viaCall := List clone
keep := method(x, block(x))
for(i, 1, 3, viaCall append(keep(i)))
viaCall map(b, b call) println
