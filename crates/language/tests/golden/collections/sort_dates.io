# Dates and durations sort and compare by time.
dates := list(30, 10, 20) map(seconds, Date clone fromNumber(seconds))
dates sort map(asNumber) println
dates max asNumber println
durations := list(3, 1, 2) map(seconds, Duration clone fromNumber(seconds))
durations sort map(asNumber) println
(Date clone fromNumber(5) == Date clone fromNumber(5)) println
(Date clone fromNumber(5) < Date clone fromNumber(6)) println
(Duration clone fromNumber(5) compare(Duration clone fromNumber(4))) println
