//! A language that you extend
//! Arguments arrive unevaluated, so a control structure is an ordinary method.

unless := method(
    if(call evalArgAt(0), call evalArgAt(2), call evalArgAt(1))
)
unless(1 > 2, "the world is in order", "run!") println

OperatorTable addOperator("<->", 10)
Number <-> := method(other, (self - other) abs)
doString("3 <-> 10") println
