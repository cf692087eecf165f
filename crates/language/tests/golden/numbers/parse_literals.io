# Forms of number literals.
0x10 println
0xFF println
1e3 println
1.5e2 println
.5 println
007 println
2.50 println
