# return ends the code of a coroutine, not the method that made it.
f := method(
  c := coroFor(return "from coroutine"; "unreached" println)
  c resume
  "from method: " .. c result
)
f println
g := method(coroDo(return 1); "g goes on")
g println
