// Date and Duration.

//metadoc Date description A point in time.
Date do(
    //doc Date today Sets the receiver to the start of the current day. Returns self.
    today := method(self now setHour(0) setMinute(0) setSecond(0))

    //doc Date isToday Returns true if the receiver lies in the current day.
    isToday := method(
        now := Date clone now
        self year == now year and(self month == now month) and(self day == now day)
    )

    //doc Date secondsToRun(expression) Evaluates the expression and returns how many seconds that took.
    secondsToRun := method(
        start := Date clone now
        call evalArgAt(0)
        Date clone now secondsSince(start)
    ) setPassStops(true)

    //doc Date cpuSecondsToRun(expression) Evaluates the expression and returns how many seconds of processor time that took.
    cpuSecondsToRun := method(
        start := Date clock
        call evalArgAt(0)
        Date clock - start
    ) setPassStops(true)

    //doc Date asAtomDate Returns the date in the format of RFC 4287, as 2009-02-13T23:31:30+01:00.
    asAtomDate := method(
        self asString("%Y-%m-%dT%H:%M:%S") .. self gmtOffset asMutable atInsertSeq(3, ":")
    )

    //doc Date asNumberString Returns the seconds since 1970, filled with zeros to 27 characters.
    asNumberString := method(self asNumber asString alignLeft(27, "0"))

    //doc Date timeStampString Returns the asNumberString of the current time.
    timeStampString := method(Date clone now asNumberString)
)

//metadoc Duration description A length of time.
Duration do(
    //doc Duration +(duration) Returns the sum of both.
    setSlot("+", method(other, self clone += other))

    //doc Duration -(duration) Returns the difference of both.
    setSlot("-", method(other, self clone -= other))
)
