# isEndOfLine marks the separators; nextIgnoreEndOfLines steps over them.
m := "a; b
c" asMessage
m isEndOfLine println
m next isEndOfLine println
m nextIgnoreEndOfLines name println
m nextIgnoreEndOfLines nextIgnoreEndOfLines name println
m lastBeforeEndOfLine name println
"p q; r" asMessage lastBeforeEndOfLine name println
