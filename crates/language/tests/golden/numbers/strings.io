# asString, asNumber, asBuffer and formatting by hand.
12 asString println
12 asString type println
1.5 asString println
12 asNumber println
12 asSimpleString println
12 asJson println
1 asCharacter size println
3.14159 asString(0, 2) println
3.14159 asString(8, 3) println
7 toggle println
