# Map with; keys and values (sorted, for the order is not defined).
# Deviates from upstream, which quotes the items of nested lists twice.
m := Map with("x", 10, "y", 20, "z", 30)
m keys sort println
m values sort println
m asList sortBy(block(a, b, a at(0) < b at(0))) println
m size println
Map with size println
