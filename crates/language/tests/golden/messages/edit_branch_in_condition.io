# The condition of an if may edit the branch that is taken afterwards.
f := method(if(prepare, left, right))
left := "left branch"
right := "right branch"
middle := "middle branch"
prepare := method(true)
f println
prepare = method(Lobby getSlot("f") message argAt(1) setName("middle"); true)
f println
f println
