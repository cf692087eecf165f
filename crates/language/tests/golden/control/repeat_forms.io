# repeat runs n times, with an optional counter from 0, and returns the last value.
3 repeat(write("x")); writeln
r := 3 repeat(i, i * i)
r println
0 repeat("never" println)
4 repeat(i, if(i == 2, break); write(i, " ")); writeln
