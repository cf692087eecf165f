# clipBeforeSeq and its relatives cut a buffer.
"one=two" asMutable clipBeforeSeq("=") println
"one=two" asMutable clipAfterSeq("=") println
"one=two" asMutable clipBeforeEndOfSeq("=") println
"one=two" asMutable clipAfterStartOfSeq("=") println
s := "abc" asMutable
s clipBeforeSeq("z") println
s println
