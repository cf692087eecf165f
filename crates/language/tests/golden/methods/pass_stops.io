# A block with setPassStops(true) lets return reach the method that calls it.
f := method(
  b := block(return "from block")
  r := b call
  "after: " .. r
)
f println
g := method(
  b := block(return "from block") setPassStops(true)
  r := b call
  "after: " .. r
)
g println
block(1) passStops println
block(1) setPassStops(true) passStops println
