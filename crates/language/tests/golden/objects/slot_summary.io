# slotSummary lists own slots in order of name (the first line holds an identity).
o := Object clone do(beta := 2; alpha := "x"; gamma := method(a, a); nothing := nil)
o slotSummary split("\n") slice(1) foreach(println)
o slotDescriptionMap keys sort println
o slotDescriptionMap at("gamma") println
