# Protos may form a cycle; lookup still ends, with the slot or with forward.
A := Object clone do(a := "slot a")
B := Object clone do(b := "slot b")
A setProtos(list(B, Object))
B setProtos(list(A, Object))
A b println
B a println
A a println
try(A nowhere) error println
A hasSlot("b") println
A hasSlot("nowhere") println
