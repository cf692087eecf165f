# serialized gives source text that rebuilds the value (upstream escapes the quote in a string twice; we do not).
5 serialized println
"te\"xt" serialized println
list(1, "a") serialized println
nil serialized println
true serialized println
o := Object clone do(x := 1)
o serialized println
doString(o serialized) x println
