# asHex, base 64 and URL encodings.
"abc" asHex println
"hello" asBase64 asMutable strip println
"aGVsbG8=" fromBase64 println
"a b&c" urlEncoded println
"a%20b" urlDecoded println
"a b/c" percentEncoded println
"a%20b%2Fc" percentDecoded println
