# Appending while iterating: the loop sees the new items.
l := list(1, 2)
l foreach(v, if(l size < 5, l append(v * 10)))
l println
m := list(1, 2, 3, 4)
seen := list
m foreach(v, seen append(v); if(v == 2, m remove(1)))
seen println
