# continue skips the rest of the round in every kind of loop.
for(i, 1, 5, if(i % 2 == 0, continue); write(i, " ")); writeln
n := 0
while(n < 5, n = n + 1; if(n == 3, continue); write(n, " ")); writeln
list("a", "b", "c") foreach(v, if(v == "b", continue); write(v, " ")); writeln
3 repeat(i, if(i == 1, continue); write(i, " ")); writeln
m := 0
loop(m = m + 1; if(m < 3, continue); break)
m println
