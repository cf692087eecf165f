# resend repeats the current message at the proto with the same self; arguments are evaluated again.
evaluations := 0
Animal := Object clone do(
  name := "animal"
  greet := method(x, "I am " .. name .. " and " .. x)
)
Dog := Animal clone do(
  name := "dog"
  greet := method(x, x = "changed"; resend .. "!")
)
Puppy := Dog clone do(
  name := "puppy"
  greet := method(x, "small: " .. resend)
)
Puppy greet("happy") println
Dog greet(evaluations = evaluations + 1; "counted") println
evaluations println
