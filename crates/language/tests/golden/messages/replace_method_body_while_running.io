# setMessage during a call: the running activation ends with its old body, the next call uses the new one.
f := method(
  call activated setMessage(message("new body"))
  "old body"
)
f println
f println
