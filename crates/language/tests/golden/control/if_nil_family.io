# ifNil, ifNilEval, ifNonNil, ifNonNilEval.
nil ifNil("ran" println) println
5 ifNil("not run" println) println
nil ifNilEval("value") println
5 ifNilEval("value") println
nil ifNonNil("not run" println) println
5 ifNonNil("ran" println) println
nil ifNonNilEval("value") println
5 ifNonNilEval("value") println
nil isNil println
false isNil println
