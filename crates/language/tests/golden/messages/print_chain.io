# A message prints back as source: names, arguments, next, with commas and spaces.
message(a b(c, d e) f) println
message(a) println
message(a()) println
message(a(b)(c)) println
message("text" size) println
message(1.50 + 0x1F) println
