# A block can call itself through the variable that holds it.
fact := nil
fact = block(n, if(n < 2, 1, n * fact call(n - 1)))
fact call(10) println
mk := method(
  fib := block(n, if(n < 2, n, fib call(n - 1) + fib call(n - 2)))
  fib
)
f := mk
f call(15) println
