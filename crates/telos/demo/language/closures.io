//! Closures
//! A block keeps the place it was made in, long after its method has returned.

counter := method(start, block(start = start + 1; start))
tick := counter(10)
tick call println
tick call println

list(3, 1, 2) sort map(x, x * x) println
