# Many futures, collected in order.
Worker := Object clone do(square := method(n, n * n))
futures := List clone
for(i, 1, 20, futures append(Worker @square(i)))
sum := 0
futures foreach(f, sum = sum + (f + 0))
sum println
