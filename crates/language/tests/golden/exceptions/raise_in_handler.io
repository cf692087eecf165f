# An exception raised by a handler or a catch body goes to the next try outside.
E1 := Exception clone
e := try(
  withHandler(E1, block(x, resume, Exception raise("from the handler")), E1 signal("s"); "unreached" println)
)
e error println
e2 := try(
  inner := try(Exception raise("first"))
  inner catch(Exception, Exception raise("second, after " .. inner error))
)
e2 error println
