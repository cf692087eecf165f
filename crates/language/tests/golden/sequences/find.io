# findSeq, reverseFindSeq, findNthSeq, occurrences and containment. (Upstream loses count in findNthSeq.)
s := "banana"
s findSeq("an") println
s findSeq("an", 2) println
s findSeq("zz") println
s reverseFindSeq("an") println
s findNthSeq("a", 3) println
s occurrencesOfSeq("an") println
s containsSeq("nan") println
s containsAnyCaseSeq("NAN") println
s contains(98) println
s beginsWithSeq("ba") println
s endsWithSeq("na") println
