# Exceptions are prototypes: clones inherit, carry slots and are matched by kind.
AppError := Exception clone do(code := 1)
NetError := AppError clone do(code := 2)
e := try(NetError raise("no route"))
e type println
e code println
e catch(AppError, "is an AppError" println)
try(AppError raise("x")) catch(NetError, "no" println) catch(AppError, "yes" println)
NetError error println
