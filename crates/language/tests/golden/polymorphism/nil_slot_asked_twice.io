# A slot that holds nil is nil however often one place asks for it.
Shape := Object clone do(
  owner := nil
  label := method(if(owner, "owned by " .. owner, "nobody's"))
)
a := Shape clone
3 repeat(a label println)
a owner = "ann"
2 repeat(a label println)
a owner = nil
2 repeat(a label println)
