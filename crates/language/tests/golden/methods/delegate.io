# delegateTo sends the call's message to another object; delegateToMethod under another name.
Impl := Object clone do(
  add := method(a, b, a + b)
  sub := method(a, b, a - b)
)
Front := Object clone do(
  add := method(call delegateTo(Impl))
  plus := method(call delegateToMethod(Impl, "add"))
  minus := method(call delegateToMethod(Impl, "sub"))
)
Front add(2, 3) println
Front plus(20, 30) println
Front minus(9, 4) println
Front add(2, 3) negate println
