# foreachSlot walks the own slots in order of name.
o := Object clone do(b := 2; a := 1; m := method(99))
o foreachSlot(n, v, write(n, " "))
writeln
o foreachSlot(n, v, if(n == "m", getSlot("v") type println))
o foreachSlot(n, v, if(n == "b", break); n println)
