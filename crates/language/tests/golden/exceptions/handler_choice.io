# The innermost matching handler is used; without one, signal raises.
A := Exception clone
B := Exception clone
r := withHandler(A, block(e, resume, "outer A"),
  withHandler(B, block(e, resume, "B"),
    withHandler(A, block(e, resume, "inner A"),
      list(A signal("1"), B signal("2"))
    )
  )
)
r println
try(A signal("nobody listens")) error println
try(A signal("nobody listens")) type println
