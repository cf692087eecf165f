# A message that went to forward finds the slot once it is there, and forward again after removal.
o := Object clone do(forward := method("forwarded"))
ask := method(o thing)
2 repeat(ask)
ask println
o thing := "defined"
ask println
o removeSlot("thing")
ask println
o removeSlot("forward")
try(ask) error println
