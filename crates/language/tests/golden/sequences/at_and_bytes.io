# at and foreach give byte numbers; asCharacter turns them back.
"abc" at(0) println
"abc" at(2) asCharacter println
"abc" at(5) println
"AZ" foreach(c, c println)
"abc" asList println
"abc" byteAt(1) println
97 asCharacter println
