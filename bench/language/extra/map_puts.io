# Puts as many string keys into one map as the first argument says; measured at two sizes to see how a put scales.
fill := method(size,
    table := Map clone
    for(i, 1, size, table atPut("key" .. i, i))
    table
)

fill(System args at(1) asNumber) size println
