# A WeakLink holds its target as long as something else does.
target := Object clone do(v := 5)
w := WeakLink clone setLink(target)
w link v println
w link isIdenticalTo(target) println
