# Durations count in days, hours, minutes and seconds.
t := Duration clone setDays(1) setHours(2) setMinutes(3) setSeconds(4)
t totalSeconds println
t days println
t hours println
t minutes println
t seconds println
