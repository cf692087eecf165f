# return inside try, a block or a catch body ends that body only, not the method around it; do lets it through.
t := method(try(return "inner"); "after try")
t println
b := method(block(return "inner") call; "after block")
b println
c := method(e := try(Exception raise("x")); e catch(Exception, return "inner"); "after catch")
c println
d := method(r := do(return "inner"); "after do")
d println
