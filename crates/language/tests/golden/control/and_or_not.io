# and, or and not: which operand is evaluated and what comes back.
(true and true) println
(true and nil) println
(1 and 2) println
(nil and ("skipped" println)) println
(false or nil) println
(nil or 3) println
(2 or ("skipped" println)) println
true not println
false not println
nil not println
5 not println
(1 == 1 and 2 == 3 or 4 == 4) println
