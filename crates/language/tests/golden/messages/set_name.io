# setName renames a message in place and returns it.
m := message(foo(1) bar)
m setName("baz") println
m next setName("qux")
m println
m name println
