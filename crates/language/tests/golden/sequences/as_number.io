# asNumber reads decimal, hex, signs and ignores what follows; nan when there is no number.
"42" asNumber println
"3.25" asNumber println
"-7" asNumber println
"1e3" asNumber println
"0x1f" asNumber println
" 12 " asNumber println
"12abc" asNumber println
"abc" asNumber println
"" asNumber println
"ff" fromBase(16) println
"1010" fromBase(2) println
"255" toBase(16) println
