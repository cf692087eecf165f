# An actor's slots change one message at a time.
Account := Object clone do(
  balance := 0
  deposit := method(n, old := balance; yield; balance = old + n)
)
Account @@deposit(10)
Account @@deposit(20)
Account @@deposit(30)
20 repeat(yield)
Account balance println
