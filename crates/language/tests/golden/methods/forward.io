# forward receives messages that nothing else answers.
# Deviates from upstream, which quotes the items of nested lists twice.
Proxy := Object clone do(
  forward := method(
    list(call message name, call message argCount, call evalArgs)
  )
)
Proxy anything println
Proxy compute(1 + 1, "z") println
known := Proxy clone do(here := "own slot")
known here println
known missing println
