# loop runs until break; break's argument is the value of the loop.
n := 0
r := loop(n = n + 1; if(n == 4, break("done")))
r println
r2 := loop(break)
r2 println
r3 := while(true, break(7))
r3 println
r4 := for(i, 1, 10, if(i == 3, break(i * 1000)))
r4 println
i println
