# stopStatus tells how an evaluation ended, and keeps it from going further.
f := method(
  list(
    stopStatus(1 + 1) type,
    stopStatus(break) type,
    stopStatus(continue) type,
    stopStatus(return 5) type
  )
)
f println
