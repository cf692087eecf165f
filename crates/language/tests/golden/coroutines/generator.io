# A generator: each next resumes the producer, which hands back a value.
Gen := Object clone do(
  with := method(
    g := self clone
    g value := nil
    g consumer := nil
    g coro := nil
    g body := call argAt(0)
    g
  )
  emit := method(v, value = v; consumer resume)
  next := method(
    value = nil
    consumer = Scheduler currentCoroutine
    if(coro isNil,
      coro = self coroWith(doMessage(self body))
    )
    coro resume
    value
  )
)
squares := Gen with(for(i, 1, 4, emit(i * i)))
5 repeat(squares next println)
