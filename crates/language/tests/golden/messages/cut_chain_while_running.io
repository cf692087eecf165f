# A chain cut or extended by the message that is running is honoured at once.
log := List clone
cut := method(call message setNext(nil); log append("cut"); self)
tail := method(log append("tail"); self)
m := message(cut tail)
m doInContext(Lobby)
log println
m println
grow := method(call message setNext(message(tail tail)); log append("grow"); self)
message(grow) doInContext(Lobby)
log println
