# Captured locals survive many calls and a collection in between.
hold := method(tag, data := list(tag, tag .. tag); block(data))
kept := hold("k")
churn := method(n, l := list(n); l size)
2000 repeat(i, churn(i); hold(i asString))
Collector collect
kept call println
kept call append(3)
kept call println
