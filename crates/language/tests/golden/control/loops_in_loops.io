# Loops of all kinds inside one another, with values collected in order.
out := List clone
for(i, 1, 2,
  list("a", "b") foreach(s,
    2 repeat(k,
      j := 0
      while(j < 2, j = j + 1; if(j == 2 and k == 1, break); out append(s .. i .. k .. j))
    )
  )
)
out size println
out first println
out last println
out join(" ") println
