# for counts upwards by one or by a step, with the end included.
for(i, 1, 5, write(i, " ")); writeln
for(i, 0, 10, 5, write(i, " ")); writeln
for(i, 5, 1, -2, write(i, " ")); writeln
for(i, 5, 1, write(i, " ")); writeln("none")
for(i, 1, 2, 0.5, write(i, " ")); writeln
for(i, 3, 3, write(i, " ")); writeln
r := for(i, 1, 3, i * 10)
r println
i println
