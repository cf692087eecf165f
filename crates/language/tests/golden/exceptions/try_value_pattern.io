# To get a value out of try, assign inside it; locals of the method are in reach.
f := method(n,
  result := nil
  e := try(result = 100 / n; if(n == 5, Exception raise("five")))
  if(e, "failed: " .. e error, result)
)
f(4) println
f(5) println
