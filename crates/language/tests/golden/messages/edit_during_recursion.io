# A method edited by an inner activation of itself is seen by the outer ones where they go on.
trace := List clone
word := "before"
later := "after"
f := method(n, if(n > 0, f(n - 1), edit); trace append(word))
edit := method(trace append("editing"))
f(2)
trace println
trace empty
edit = method(Lobby getSlot("f") message last argAt(0) setName("later"))
f(2)
trace println
