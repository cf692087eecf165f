# while checks before each round and returns the last value of its body.
n := 0
r := while(n < 3, n = n + 1; n * 100)
r println
n println
(while(false, 1)) println
while(n > 0, n = n - 1; if(n == 1, break))
n println
