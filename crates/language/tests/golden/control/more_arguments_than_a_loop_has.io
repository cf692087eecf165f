# What a loop has no use for is not evaluated. Such a loop came back to itself for ever, without paying for it.
while(false, 1, "never" println) println
n := 0
loop(n = n + 1; if(n > 3, break), "never" println)
n println
for(i, 1, 3, 1, n = n + i, "never" println)
n println
2 repeat(i, n = n + 1, "never" println)
n println
again := method(m := 0; while(m < 2, m = m + 1, "never" println); m)
3 repeat(again println)
