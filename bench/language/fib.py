# The naive recursion fib(27), ten times over.
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def run(times):
    total = 0
    for _ in range(times):
        total = total + fib(27)
    return total


print(run(10))
