# Hundreds of differently shaped objects at one site.
get := method(o, o value)
total := 0
for(i, 1, 300,
  o := Object clone
  (i % 7) repeat(j, o setSlot("pad" .. i .. j, j))
  o value := i
  total = total + get(o)
)
total println
kinds := list(1, "a", list(), nil, true) map(v, v type)
3 repeat(kinds println)
