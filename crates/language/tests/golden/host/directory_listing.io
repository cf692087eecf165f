# A directory is made, filled, listed and removed.
d := Directory with("golden-scratch-dir")
d createIfAbsent
d exists println
d fileNamed("b.txt") create close
d fileNamed("a.txt") create close
d fileNames sort println
d files size println
d directories size println
d files foreach(remove)
d remove
Directory with("golden-scratch-dir") exists println
