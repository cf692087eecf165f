# try is cheap and leaves nothing behind: many in a row and nested.
count := 0
1000 repeat(i, try(if(i % 2 == 0, Exception raise("even"))) catch(Exception, count = count + 1))
count println
nest := method(n, if(n == 0, Exception raise("core"), e := try(nest(n - 1)); Exception raise(n asString .. "<" .. e error)))
try(nest(5)) error println
