# reverse copies, reverseInPlace does not; swapIndices; setSize; empty.
l := list(1, 2, 3)
l reverse println
l println
l reverseInPlace println
l swapIndices(0, 2) println
l setSize(5) println
l setSize(1) println
l empty println
l size println
