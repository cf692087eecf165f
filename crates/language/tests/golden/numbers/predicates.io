# isEven, isOdd, isNan and the character tests.
4 isEven println
4 isOdd println
3 isOdd println
97 isLetter println
97 isDigit println
48 isDigit println
32 isSpace println
65 isUppercase println
97 asUppercase println
65 asLowercase println
10 isControlCharacter println
