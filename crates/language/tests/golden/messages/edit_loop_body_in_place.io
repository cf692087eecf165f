# Adding a statement to the end of a loop's body while it runs takes part from then on.
log := List clone
a := method(log append("a"))
b := method(log append("b"))
body := message(a)
i := 0
loop(
  i = i + 1
  if(i == 2, body setNext(";" asMessage setNext(message(b))))
  body doInContext(Lobby)
  if(i == 3, break)
)
log println
