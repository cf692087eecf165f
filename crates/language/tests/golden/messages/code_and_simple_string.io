# code, asString and asSimpleString of a message.
m := message(one(two, "three") + 4)
m code println
m asString println
m asSimpleString println
message(aVeryLongNameIndeed anotherVeryLongName yetAnother) asSimpleString println
m type println
