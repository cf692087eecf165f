# Two coroutines hand control to each other by resume.
log := List clone
main := Scheduler currentCoroutine
c := coroFor(
  for(i, 1, 3,
    log append("ping " .. i)
    main resume
  )
)
for(i, 1, 3,
  c resume
  log append("pong " .. i)
)
log foreach(println)
