# Reading a file that is not there raises; exists is false.
f := File with("golden-no-such-file.txt")
f exists println
try(f openForReading) type println
f name println
f path println
