# if returns the value of the branch taken; a false condition without else returns false.
if(true, "then", "else") println
if(false, "then", "else") println
if(nil, "then", "else") println
if(0, "zero is true", "zero is false") println
if("", "empty text is true") println
if(false, "x") println
if(nil, "x") println
if(true) println
if(1 > 2) println
