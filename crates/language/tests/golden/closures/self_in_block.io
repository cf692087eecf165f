# self inside a block is the self of the method that made it, wherever it is called.
Dog := Object clone do(
  name := "Rex"
  speaker := method(block(name .. " speaks"))
)
s := Dog speaker
s call println
Cat := Object clone do(name := "Tom"; run := method(b, b call))
Cat run(s) println
other := Dog clone do(name := "Fido")
other speaker call println
