# The body of try runs in the caller's context: it reads and sets its locals and self.
o := Object clone do(
  v := "o's v"
  m := method(n,
    local := 1
    try(local = n; fresh := 5; self v := "set in try")
    list(local, fresh, v)
  )
)
o m(7) println
try(topLevel := "defined in try")
topLevel println
