# Conditions, loops and calls nest; evaluation order is left to right.
log := list
t := method(x, log append(x); x)
if(t(1) == 1 and t(2) == 2, t(3), t(4))
t(list(t(5), t(6)) size)
(t(10) + t(20) * t(30)) println
log println
