# coroDo starts the coroutine at once; the creator continues when it ends.
"before" println
c := coroDo("inside" println)
"after" println
c type println
