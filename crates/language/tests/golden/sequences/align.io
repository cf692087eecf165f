# alignLeft, alignRight and alignCenter pad to a width.
("[" .. "abc" alignLeft(6) .. "]") println
("[" .. "abc" alignRight(6) .. "]") println
("[" .. "abc" alignCenter(8) .. "]") println
"abc" alignLeft(6, ".") println
"abc" alignRight(6, "0") println
"abc" alignCenter(8, "*") println
"abcdef" alignLeft(3) println
"7" alignRight(3, "0") println
"ab" alignLeft(7, "-=") println
