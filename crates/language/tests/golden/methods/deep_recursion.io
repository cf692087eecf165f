# Recursion of some thousand calls works; values come back in order.
count := method(n, if(n == 0, 0, 1 + count(n - 1)))
count(1000) println
build := method(n, if(n == 0, list(), build(n - 1) append(n)))
build(500) size println
even := method(n, if(n == 0, true, odd(n - 1)))
odd := method(n, if(n == 0, false, even(n - 1)))
even(1000) println
even(1001) println
