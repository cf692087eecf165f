# Binary numbers in text, little end first.
"ab" asBinaryUnsignedInteger println
"AB" unpack("BB") println
