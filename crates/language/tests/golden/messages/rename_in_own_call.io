# A method may rename a message of its own body that is still to come.
f := method(
  call activated message last setName("second")
  "text" first
)
Sequence first := method("first of " .. self)
Sequence second := method("second of " .. self)
f println
g := method(n, if(n == 2, call activated message last setName("b")); self a)
a := "was a"
b := "now b"
g(1) println
g(2) println
g(1) println
