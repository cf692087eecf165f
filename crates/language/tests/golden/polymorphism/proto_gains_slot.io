# A slot added to a middle prototype hides the one above at sites that have already run.
A := Object clone do(v := "A")
B := A clone
C := B clone
get := method(C v)
3 repeat(get)
get println
B v := "B"
get println
C v := "C"
get println
C removeSlot("v")
B removeSlot("v")
get println
