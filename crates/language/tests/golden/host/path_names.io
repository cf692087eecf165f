# Path joins and takes names apart without touching the disk.
Path with("a", "b", "c.txt") println
Path with("/top/", "/x") println
Path isPathAbsolute("/a") println
Path isPathAbsolute("a/b") println
