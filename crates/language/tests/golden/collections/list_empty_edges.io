# Operations on empty lists.
list() first println
list() last println
list() max println
list() sort println
list() map(v, v) println
list() reverse println
list() flatten println
list() slice(0, 3) println
list() indexOf(1) println
list() sum println
