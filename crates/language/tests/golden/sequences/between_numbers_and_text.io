# Numbers to text and back; characters tests on bytes.
65 asCharacter println
"A" at(0) isUppercase println
"7" at(0) isDigit println
" " at(0) isSpace println
"a" at(0) asUppercase asCharacter println
123 asString size println
"12" asNumber + 1 println
("12" asNumber + 1) println
97 asString println
