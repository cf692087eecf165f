# break or continue in a method called from a loop ends that method only.
stop := method(break; "unreached")
skip := method(continue; "unreached")
n := 0
for(i, 1, 3, stop; skip; n = n + 1)
n println
m := 0
list(1, 2, 3) foreach(v, block(break) call; m = m + 1)
m println
