# Path components of text.
"/a/b/c.txt" lastPathComponent println
"/a/b/c.txt" pathComponent println
"/a/b/c.txt" pathExtension println
"/a/b/c.txt" fileName println
"a" asMutable appendPathSeq("b") println
"a/" asMutable appendPathSeq("/b") println
"a" cloneAppendPath("b") println
