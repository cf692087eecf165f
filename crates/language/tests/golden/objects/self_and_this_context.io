# self exists in methods and blocks only; thisContext and thisLocalContext everywhere.
try(self) error println
thisContext isIdenticalTo(Lobby) println
o := Object clone do(
  m := method(self isIdenticalTo(o))
  n := method(thisContext isIdenticalTo(thisLocalContext))
  k := method(thisLocalContext isIdenticalTo(self))
)
o m println
o n println
o k println
thisMessage name println
