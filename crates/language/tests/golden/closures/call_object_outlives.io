# A Call kept after its method has returned still tells who called whom.
grab := method(a, call)
c := Object clone do(type := "Holder") do(go := method(grab(1 + 1))) go
c message name println
c argCount println
c message argAt(0) println
500 repeat(grab(3))
c message argAt(0) println
c evalArgAt(0) println
