# A control word written in Io: its body runs in the caller and return, break and continue act there.
until := method(
  while(call evalArgAt(0) not,
    call relayStopStatus(call evalArgAt(1))
    if(call stopStatus isReturn, return)
    if(call stopStatus isBreak, call resetStopStatus; break)
  )
)
n := 0
until(n == 3, n = n + 1)
n println
m := 0
until(false, m = m + 1; if(m == 4, break))
m println
