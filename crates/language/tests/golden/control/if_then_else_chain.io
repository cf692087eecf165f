# if(c) then(a) elseif(d) then(b) else(e): branches run for effect, the value is nil or the remainder.
f := method(n,
  if(n == 1) then(
    return "one"
  ) elseif(n == 2) then(
    return "two"
  ) else(
    return "many"
  )
)
list(1, 2, 3) map(n, f(n)) println
(if(true) then("a")) println
(if(false) then("a")) println
(if(false) then("a") else("b")) println
(if(true) then("a") else("b")) println
