# The naive recursion fib(27), ten times over.
fib := method(n, if(n < 2, n, fib(n - 1) + fib(n - 2)))

run := method(times,
    sum := 0
    for(i, 1, times, sum = sum + fib(27))
    sum
)

run(10) println
