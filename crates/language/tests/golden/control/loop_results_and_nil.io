# What loops give back when they never run or end by break.
for(i, 1, 0, "x") println
(while(nil, "x")) println
list() foreach(v, v) println
list(1, 2) foreach(v, if(v == 2, break("stopped"))) println
0 repeat(1) println
