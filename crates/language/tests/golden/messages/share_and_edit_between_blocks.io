# Two closures of one block literal share its message: an edit through one shows in the other.
mk := method(n, block(n + 1))
p := mk(10)
q := mk(20)
list(p call, q call) println
p message next setName("*")
p message next argAt(0) setCachedResult(3)
list(p call, q call) println
mk(5) call println
