# When a coroutine ends, its parent runs and leaves the queue (upstream forgets the second half, so its queue never empties).
coroDo("inside" println)
Scheduler yieldingCoros size println
coroDoLater("later" println)
Scheduler yieldingCoros size println
yield
Scheduler yieldingCoros size println
c := coroFor("first half" println; yield; "second half" println)
c resume
"back" println
yield
Scheduler yieldingCoros size println
