# replaceSeq, replaceFirstSeq, replaceMap, removeSeq on buffers.
"a-b-c" asMutable replaceSeq("-", "+") println
"a-b-c" asMutable replaceFirstSeq("-", "+") println
"aaa" asMutable replaceSeq("a", "aa") println
"x1y2" asMutable replaceMap(Map with("x", "X", "y", "Y")) println
"a-b-c" asMutable removeSeq("-") println
"abcabc" asMutable removeSlice(1, 2) println
"prefix-body" asMutable removePrefix("prefix-") println
"body.txt" asMutable removeSuffix(".txt") println
