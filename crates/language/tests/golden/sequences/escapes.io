# Escape sequences in literals, escape and unescape.
"tab[\t] quote[\"] back[\\]" println
"a\nb" size println
"a\nb" asMutable escape println
"a\\nb" asMutable unescape size println
"""triple "quoted" \n stays""" println
"""two
lines""" size println
"x\"y" asSimpleString println
