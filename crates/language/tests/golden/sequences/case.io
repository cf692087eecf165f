# asUppercase, asLowercase, asCapitalized copy; uppercase, lowercase, capitalize change.
"Hello" asUppercase println
"Hello" asLowercase println
"hello" asCapitalized println
s := "MiXed" asMutable
s uppercase println
s lowercase println
s capitalize println
s println
"abc" isLowercase println
"ABC" isUppercase println
"Abc" isLowercase println
"HeLLo" isEqualAnyCase("hEllO") println
