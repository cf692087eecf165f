# An init that overrides another calls it with resend.
A := Object clone do(init := method(self a := "a set"))
B := A clone do(init := method(resend; self b := "b set"))
o := B clone
o a println
o b println
