# raise abandons everything up to the try, through methods, blocks and loops.
log := List clone
deep := method(n, log append(n); if(n == 0, Exception raise("bottom")); deep(n - 1); log append("unreached"))
e := try(list(1) foreach(x, deep(3)); log append("unreached too"))
e error println
log println
