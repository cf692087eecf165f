# A future of a list becomes that very list.
# Deviates from upstream, which resends the rest of the chain with the message.
Store := Object clone do(items := list("a", "b"); get := method(items))
f := Store @get
f size println
f append("c")
Store items println
f println
