# A number vector: element-wise arithmetic and statistics.
v := vector(1, 2, 3)
w := vector(10, 20, 30)
(v + w) asList println
(w - v) asList println
(v * w) asList println
v sum println
v mean println
v product println
v min println
v max println
v dotProduct(w) println
v itemType println
v clone += w
(v clone negate) asList println
