# Assignment takes everything to its right up to the end of the statement.
a := b := 2 + 3
a println
b println
o := Object clone
o x := o y := 9
o x println
o y println
c := if(true, 1, 2) + 10
c println
(d := 4) + 1
d println
