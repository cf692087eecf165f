# A file is written, appended to, read back whole and by lines, and removed.
f := File with("golden-scratch.txt")
f remove
f exists println
f openForUpdating write("one\n", "two\n") close
f exists println
f openForAppending write("three\n") close
f size println
f contents println
f openForReading
f readLine println
f readLines println
f close
f remove
f exists println
# Text is UTF-8 on disk, whatever it is in memory; numbers are as they are.
f := File with("golden-scratch.txt")
f setContents("grün") appendToContents(" → ", 7, "日")
f size println
f contents asUTF8 println
f setContents(Sequence clone setItemType("uint16") setEncoding("number") append(1, 2))
f size println
f remove
