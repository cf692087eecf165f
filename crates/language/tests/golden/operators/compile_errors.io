# Texts of errors raised by the parser and the operator shuffle, caught with try.
list("(", "f(a,)", ":= 3", "a := ", "a := ; 3") foreach(source,
  try(doString(source)) error println
)
doString("1 + 1") println
