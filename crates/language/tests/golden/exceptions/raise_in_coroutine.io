# An exception in a coroutine is kept in it; the others go on.
c := coroFor(Exception raise("inside coroutine"))
e := try(
  c setParentCoroutine(Scheduler currentCoroutine)
  c run
)
e println
c exception error println
"still here" println
