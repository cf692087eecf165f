# break leaves only the innermost loop.
for(i, 1, 3,
  for(j, 1, 3,
    if(j == 2, break)
    write(i, j, " ")
  )
)
writeln
i := 0
loop(
  i = i + 1
  list(1, 2, 3) foreach(v, if(v == 2, break); write(v))
  if(i == 3, break)
)
writeln
