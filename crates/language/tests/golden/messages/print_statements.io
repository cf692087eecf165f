# A new line or semicolon between messages is itself a message named ";".
m := message(a; b c; d)
m println
m name println
m next name println
m next next name println
m last name println
"a\nb\n\nc" asMessage println
