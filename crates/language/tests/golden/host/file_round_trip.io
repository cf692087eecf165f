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
