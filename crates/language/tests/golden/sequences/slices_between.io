# slicesBetween and orderedSplit.
"<a><b>" slicesBetween("<", ">") println
"a=b;c" orderedSplit("=", ";") println
"none" slicesBetween("<", ">") println
"k: v" split(":") map(s, s asMutable strip) println
