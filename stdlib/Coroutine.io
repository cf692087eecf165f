// Coroutine and Scheduler: cooperative multitasking.
//
// The VM starts and switches coroutines (run, resume); everything else is here. A coroutine that
// can run waits in the queue Scheduler yieldingCoros; one that sleeps is in Scheduler timers; one
// that is paused is in neither, and somebody must resume it. The clock is asked only while there
// are timers.

//metadoc Scheduler description Decides which coroutine runs next.
Scheduler := Object clone do(
    //doc Scheduler yieldingCoros The queue of coroutines that are ready to run.
    yieldingCoros ::= List clone

    //doc Scheduler timers The sleeping coroutines: a list of list(wakeTime, coroutine), earliest first.
    timers ::= List clone

    //doc Scheduler unhandledExceptions The exceptions that ended a coroutine or an asynchronous message, and that nobody has caught or passed on since; the first 64 of them. The command line reports them when the program ends.
    unhandledExceptions ::= List clone

    //doc Scheduler currentCoroutine Returns the running coroutine.
    currentCoroutine := method(Coroutine currentCoroutine)

    //doc Scheduler addTimer(seconds, coroutine) Lets the coroutine become ready after so many seconds. Returns self.
    addTimer := method(seconds, coroutine,
        self addTimerAt(now + seconds, coroutine)
    )

    //doc Scheduler addTimerAt(wakeTime, coroutine) Lets the coroutine become ready at a time, in seconds since 1970, instead of at any earlier chosen one. Returns self.
    addTimerAt := method(wakeTime, coroutine,
        self removeTimerFor(coroutine)
        coroutine wakeTime := wakeTime
        timers atInsert(timerIndexAfter(wakeTime), list(wakeTime, coroutine))
        self
    )

    //doc Scheduler removeTimerFor(coroutine) Forgets the coroutine's timer. Returns self.
    removeTimerFor := method(coroutine,
        if(coroutine wakeTime,
            timers selectInPlace(timer, timer at(1) isIdenticalTo(coroutine) not)
            coroutine wakeTime := nil
        )
        self
    )

    // The place of a new timer: after all that are due earlier or at the same time.
    timerIndexAfter := method(wakeTime,
        low := 0
        high := timers size
        while(low < high,
            middle := ((low + high) / 2) floor
            if(timers at(middle) at(0) <= wakeTime, low = middle + 1, high = middle)
        )
        low
    )

    now := method(Date clone now asNumber)

    //doc Scheduler wakeExpiredTimers Makes the coroutines ready whose time has come. Returns self.
    wakeExpiredTimers := method(
        if(timers size > 0,
            time := now
            while(timers size > 0 and(timers first at(0) <= time),
                coroutine := timers removeFirst at(1)
                coroutine wakeTime := nil
                yieldingCoros appendIfAbsent(coroutine)
            )
        )
        self
    )

    //doc Scheduler idleUntilNextTimer Sleeps until the first timer is due and makes its coroutine ready. Returns self.
    idleUntilNextTimer := method(
        if(timers size > 0,
            remaining := timers first at(0) - now
            if(remaining > 0, System idle(remaining))
        )
        self wakeExpiredTimers
    )

    //doc Scheduler nextReady Removes and returns the next coroutine of the queue that has not finished, or nil.
    nextReady := method(
        while(yieldingCoros size > 0,
            next := yieldingCoros removeFirst
            if(next isFinished not, return next)
        )
        nil
    )

    //doc Scheduler turn Lets the next ready coroutine run until it yields, pauses or ends. Returns self.
    turn := method(
        self wakeExpiredTimers
        next := self nextReady
        if(next,
            yieldingCoros atInsert(0, Coroutine currentCoroutine)
            next resume
        )
        self
    )

    //doc Scheduler waitForCorosToComplete Runs the other coroutines until none is ready and none sleeps.
    waitForCorosToComplete := method(
        loop(
            self wakeExpiredTimers
            if(yieldingCoros size > 0) then(
                yield
            ) elseif(timers size > 0) then(
                self idleUntilNextTimer
            ) else(
                break
            )
        )
    )
)

//metadoc Coroutine description A line of execution that takes turns with others.
Coroutine do(
    //doc Coroutine runTarget The object that receives runMessage when the coroutine starts.
    runTarget ::= nil

    //doc Coroutine runLocals The context in which runMessage is evaluated.
    runLocals ::= nil

    //doc Coroutine runMessage The message that the coroutine evaluates.
    runMessage ::= nil

    //doc Coroutine parentCoroutine The coroutine that started this one and goes on when it ends.
    parentCoroutine ::= nil

    //doc Coroutine result The value of runMessage, once the coroutine has ended.
    result ::= nil

    //doc Coroutine exception The exception that ended the coroutine, or nil.
    exception ::= nil

    //doc Coroutine handlerStack The handlers installed by withHandler, innermost last, or nil.
    handlerStack ::= nil

    //doc Coroutine wakeTime When the coroutine's timer is due, or nil if it has none.
    wakeTime ::= nil

    //doc Coroutine stackSize Has no effect: stacks grow as needed.
    stackSize ::= 131072

    //doc Coroutine inException Returns true while the coroutine handles an exception.
    inException ::= false

    //doc Coroutine yieldingCoros The queue of coroutines that are ready to run.
    yieldingCoros ::= Scheduler yieldingCoros

    //doc Coroutine recentInChain Returns the coroutine to resume in order to continue this one's work: itself.
    recentInChain := method(self)

    //doc Coroutine label Returns a name for the coroutine: its unique id, unless setLabel gave another.
    label := method(self uniqueId)

    //doc Coroutine setLabel(name) Sets the label to the name and the unique id. Returns self.
    setLabel := method(name,
        self label := name .. "_" .. self uniqueId
        self
    )

    //doc Coroutine typeId Returns the type and the unique id of the receiver.
    typeId := method(self type .. "_" .. self uniqueHexId)

    //doc Coroutine isYielding Returns true if the receiver is ready to run but not running.
    isYielding := method(yieldingCoros contains(self))

    //doc Coroutine showYielding(comment) Writes the coroutines that are ready to run.
    showYielding := method(comment,
        writeln("   ", label, " ", comment)
        yieldingCoros foreach(coroutine, writeln("    ", coroutine uniqueId))
    )

    //doc Coroutine yield Lets the next ready coroutine run, and stays ready itself. Does nothing if no other is ready.
    yield := method(
        Scheduler wakeExpiredTimers
        next := Scheduler nextReady
        // A stale entry: its child ended and made it go on before its turn.
        while(next isIdenticalTo(self), next = Scheduler nextReady)
        if(next,
            yieldingCoros append(self)
            next resume
        )
        self
    )

    //doc Coroutine resumeLater Puts the receiver first in the queue, to run at the next yield or pause. Returns self.
    resumeLater := method(
        self leaveQueue
        yieldingCoros atInsert(0, self)
        self
    )

    //doc Coroutine pause Takes the receiver out of the queue; if it is running, lets the next ready coroutine run, or sleeps until one is. It goes on when somebody resumes it.
    pause := method(
        self leaveQueue
        if(isCurrent, self runAnother)
        self
    )

    // For want of another to run, this coroutine may itself be the first whose timer is due.
    runAnother := method(
        loop(
            Scheduler wakeExpiredTimers
            next := Scheduler nextReady
            if(next isIdenticalTo(self), return self)
            if(next,
                next resume
                return self
            )
            if(Scheduler timers isEmpty,
                Exception raise("Scheduler: nothing left to resume so we are exiting")
            )
            Scheduler idleUntilNextTimer
        )
    )

    //doc Coroutine pauseCurrentAndResumeSelf Pauses the running coroutine and runs the receiver.
    pauseCurrentAndResumeSelf := method(
        self leaveQueue
        if(isCurrent not, resume)
        self
    )

    //doc Coroutine yieldCurrentAndResumeSelf Same as pauseCurrentAndResumeSelf.
    yieldCurrentAndResumeSelf := getSlot("pauseCurrentAndResumeSelf")

    //doc Coroutine resumeParentCoroutine Pauses the running coroutine and runs the receiver's parent.
    resumeParentCoroutine := method(
        if(parentCoroutine, parentCoroutine pauseCurrentAndResumeSelf)
    )

    //doc Coroutine raiseException(anException) Raises the exception in the running coroutine.
    raiseException := method(anException,
        if(anException coroutine isNil, anException setCoroutine(self))
        anException rawRaise
    )

    //doc Coroutine callStack Returns a list of the Call objects of the running methods, innermost first.
    callStack := method(
        self ioStack select(entry, Object argIsCall(getSlot("entry"))) reverseInPlace
    )

    //doc Coroutine backTraceString Returns the exception's back trace if there is one, or else the running calls, a line each.
    backTraceString := method(
        if(exception, return exception backTraceString)
        calls := self callStack
        lines := Sequence clone appendSeq("  ---------\n")
        if(calls isEmpty, lines appendSeq("  nothing on stack\n"))
        calls foreach(entry, lines appendSeq("  ", entry description, "\n"))
        lines appendSeq("\n")
    )

    //doc Coroutine showStack Writes the back trace.
    showStack := method(write(self backTraceString))
)

Object do(
    //doc Object currentCoro Returns the running coroutine.
    currentCoro := method(Coroutine currentCoroutine)

    //doc Object yield Lets other coroutines run.
    yield := method(Coroutine currentCoroutine yield)

    //doc Object pause Pauses the running coroutine until somebody resumes it.
    pause := method(Coroutine currentCoroutine pause)

    //doc Object wait(seconds) Pauses the running coroutine for at least so many seconds. Returns self.
    wait := method(seconds,
        if(seconds <= 0,
            yield
            return self
        )
        coroutine := Coroutine currentCoroutine
        wakeTime := Scheduler now + seconds
        // A child that ends resumes its parent at once, so a pause may end before its time.
        while(Scheduler now < wakeTime,
            Scheduler addTimerAt(wakeTime, coroutine)
            coroutine pause
            Scheduler removeTimerFor(coroutine)
        )
        self
    )

    //doc Object coroFor(code) Returns a new coroutine that will evaluate the code in the sender.
    coroFor := method(
        Coroutine clone setRunTarget(call sender) setRunLocals(call sender) setRunMessage(call argAt(0))
    )

    //doc Object coroWith(code) Returns a new coroutine that will evaluate the code in the receiver.
    coroWith := method(
        Coroutine clone setRunTarget(self) setRunLocals(call sender) setRunMessage(call argAt(0))
    )

    //doc Object coroDo(code) Starts a new coroutine that evaluates the code in the sender, and returns it when it has yielded, paused or ended.
    coroDo := method(
        starter := Coroutine currentCoroutine
        coroutine := Coroutine clone setRunTarget(call sender) setRunLocals(call sender) setRunMessage(call argAt(0))
        Scheduler yieldingCoros atInsert(0, starter)
        coroutine run
        coroutine
    )

    //doc Object coroDoLater(code) Returns a new coroutine that evaluates the code in the receiver as soon as the running one yields.
    coroDoLater := method(
        coroutine := Coroutine clone setRunTarget(self) setRunLocals(call sender) setRunMessage(call argAt(0))
        Scheduler yieldingCoros atInsert(0, coroutine)
        coroutine
    )
)
