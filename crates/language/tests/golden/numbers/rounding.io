# floor, ceil, round, abs, negate.
1.5 floor println
1.5 ceil println
1.5 round println
2.5 round println
(-1.5) floor println
(-1.5) ceil println
(-1.5) round println
1.4 round println
-3 abs println
(-3) abs println
3 negate println
