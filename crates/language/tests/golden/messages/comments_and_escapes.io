# Comments vanish; string literals keep their source text when printed.
m := "a /* inner */ b // tail
# whole line
c" asMessage
m println
message("tab\tquote\"end") println
message("tab\tquote\"end") cachedResult size println
"\"\"\"tri\"ple\"\"\"" asMessage println
"\"\"\"tri\"ple\"\"\"" asMessage cachedResult println
