# Dates with set fields compare and print; durations add.
d := Date clone setYear(2020) setMonth(2) setDay(3) setHour(4) setMinute(5) setSecond(6)
d asString("%Y-%m-%d %H:%M:%S") println
d year println
d month println
d day println
d hour println
e := d + Duration clone setHours(1)
e hour println
(d < e) println
(e - d) hours println
