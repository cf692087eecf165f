# pass raises the same exception again in the enclosing try.
inner := nil
outer := try(
  inner = try(Exception raise("deep"))
  inner catch(Number, nil) pass
)
outer error println
outer isIdenticalTo(inner) println
nil pass println
