# A message to an unresolved future is resent alone: what follows it runs once, with effects in order.
# Deviates from upstream, which resends the rest of the chain with the message.
n := 0
Worker := Object clone do(text := method("abc"))
f := Worker @text
f size println
n = n + 1
n println
l := Worker @text
l asUppercase size println; n = n + 1
n println
