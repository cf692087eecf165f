# Each activation has its own locals; old closures are not disturbed by later calls.
counters := List clone
mk := method(start, step, block(start = start + step))
for(i, 1, 4, counters append(mk(i * 100, i)))
3 repeat(counters foreach(c, c call))
counters map(c, c call) println
