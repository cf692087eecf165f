# try returns nil when all went well, else the exception.
e := try(1 + 1)
e println
e := try(Exception raise("boom"))
e error println
e type println
e isKindOf(Exception) println
