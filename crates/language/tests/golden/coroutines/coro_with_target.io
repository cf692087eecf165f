# coroWith evaluates its code on the receiver, with the sender's locals for arguments.
Box := Object clone do(v := 5; add := method(n, v = v + n))
n := 37
c := Box coroWith(add(n))
c resume
Box v println
c2 := Box coroDoLater(add(100))
yield
Box v println
