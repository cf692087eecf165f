# signal asks a handler installed by withHandler and goes on with its value.
Need := Exception clone
r := withHandler(Need, block(e, resume, e error size * 10),
  v := Need signal("four")
  v + 2
)
r println
r2 := withHandler(Need, block(e, resume, resume invoke("resumed " .. e error)),
  Need signal("x") .. "!"
)
r2 println
