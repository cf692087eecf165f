# A handler is found through the try bodies and method calls below it.
Warn := Exception clone
work := method(x, if(x < 0, Warn signal("negative"), x))
r := withHandler(Warn, block(e, resume, 0),
  list(3, -4, 5) map(x, work(x))
)
r println
withHandler(Warn, block(e, resume, "handled"),
  e := try(got := work(-1))
  e println
  got println
)
