# A loop body edited from inside the loop changes from the next round on.
out := List clone
step := method(x, out append(x))
other := method(x, out append(x * 100))
run := method(
  m := call message argAt(0)
  for(i, 1, 4,
    if(i == 3, m setName("other"))
    m doInContext(Lobby)
  )
)
run(step(7))
out println
n := 0
body := message(n = n + 1)
3 repeat(body doInContext(Lobby))
n println
body argAt(1) next argAt(0) setCachedResult(10)
body doInContext(Lobby)
n println
