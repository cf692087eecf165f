# setProto and setProtos move an object under other prototypes while it is in use.
A := Object clone do(who := "a")
B := Object clone do(who := "b")
o := A clone
ask := method(o who)
ask println
o setProto(B)
ask println
o setProtos(list(A, B))
ask println
o removeProto(A)
ask println
o appendProto(A)
ask println
o prependProto(A)
ask println
