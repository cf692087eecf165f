# A return in a catch body ends only that body; the method goes on.
f := method(
  e := try(Exception raise("x"))
  e catch(Exception, return "inner")
  "after"
)
f println
g := method(
  e := try(Exception raise("x"))
  if(e, return "by if")
  "after"
)
g println
