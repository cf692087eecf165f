# asMessageWithEvaluatedArgs takes the context in which the arguments are evaluated.
ctx := Object clone do(n := 8)
m := message(g(n * 2))
m asMessageWithEvaluatedArgs(ctx) argAt(0) cachedResult println
m argsEvaluatedIn(ctx) println
m clone setArguments(list()) argsEvaluatedIn(ctx) println
