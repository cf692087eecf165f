# call relayStopStatus lets break, continue and return of an argument act in the caller.
twice := method(
  call relayStopStatus(call evalArgAt(0))
  call relayStopStatus(call evalArgAt(0))
)
f := method(twice(return "left f"); "not reached")
f println
maybe := method(call relayStopStatus(call evalArgAt(0)))
seen := List clone
for(i, 1, 5,
  maybe(if(i == 2, continue); if(i == 4, break))
  seen append(i)
)
seen println
