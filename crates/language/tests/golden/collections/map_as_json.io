# JSON of lists and of maps with one key.
Map with("a", list(1, "x", nil, true)) asJson println
list(1, 2.5, "q\"uote", false, nil) asJson println
"""{"k": [1, 2, {"n": null}], "t": true}""" parseJson at("k") at(1) println
"""{"k": [1, 2], "t": true}""" parseJson at("t") println
"""{"k": {"deep": "value"}}""" parseJson at("k") at("deep") println
