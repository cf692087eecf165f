// Actors and futures: any object can receive messages to be worked on later, in its own coroutine.
//
// obj @message returns at once a FutureProxy, which becomes the result when there is one; whoever
// sends it a message before that waits. obj @@message returns nil. An object's messages are
// handled one at a time, in order.

//metadoc Future description The promise of a result, kept by an actor.
Future := Object clone do(
    runTarget ::= nil
    runMessage ::= nil
    isReady ::= false
    exception ::= nil

    init := method(
        self waitingCoros := List clone
        self proxy := nil
    )

    //doc Future futureProxy Returns the proxy that becomes the result.
    futureProxy := method(
        self proxy := FutureProxy with(self)
    )

    //doc Future result Returns the result, or nil if it is not known yet.
    result := method(self getSlot("value"))

    //doc Future setResult(value) Gives the result to everyone who waits for it. Returns self.
    setResult := method(value,
        self value := getSlot("value")
        if(nil isIdenticalTo(self getSlot("proxy")) not,
            FutureProxy resolve(self getSlot("proxy"), getSlot("value"))
        )
        finish
    )

    //doc Future setFailure(anException) Raises the exception in everyone who waits for the result. Returns self.
    setFailure := method(anException,
        setException(anException)
        finish
    )

    finish := method(
        setIsReady(true)
        waitingCoros foreach(resumeLater)
        waitingCoros removeAll
        self
    )

    //doc Future waitOnResult Pauses the running coroutine until the result is known, and returns it; raises the exception that came instead of one.
    waitOnResult := method(
        while(isReady not,
            waitingCoros appendIfAbsent(Coroutine currentCoroutine)
            Coroutine currentCoroutine pause
        )
        exception pass
        self getSlot("value")
    )
)

//metadoc FutureProxy description Stands for a result that is not known yet, and becomes it.
FutureProxy := Object clone do(
    // A proxy inherits nothing, so that every message reaches its forward.
    with := method(future,
        proxy := self clone
        proxy type := "FutureProxy"
        proxy _future := future
        proxy _become := self getSlot("become")
        proxy _removeSlot := self getSlot("removeSlot")
        proxy forward := self getSlot("waitAndForward")
        proxy removeAllProtos
        proxy
    )

    // What never changes is as good as its copy. For anything else the proxy goes on forwarding, so that
    // there is one of it only.
    resolve := method(proxy, value,
        isCopy := getSlot("value") isKindOf(Number) or(
            getSlot("value") isKindOf(Sequence) and(getSlot("value") isMutable not))
        if(isCopy, getSlot("proxy") _become(getSlot("value")), getSlot("proxy") _removeSlot("type"))
    )

    waitAndForward := method(
        call delegateTo(_future waitOnResult)
    )
)

Object do(
    //doc Object @(message) Sends the message asynchronously, with its arguments evaluated now. Returns a FutureProxy.
    setSlot("@", method(
        self actorSend(call argAt(0) asMessageWithEvaluatedArgs(call sender)) futureProxy
    ))

    //doc Object @@(message) Sends the message asynchronously, with its arguments evaluated now. Returns nil.
    setSlot("@@", method(
        self actorSend(call argAt(0) asMessageWithEvaluatedArgs(call sender))
        nil
    ))

    //doc Object futureSend(message) Same as @.
    futureSend := getSlot("@")

    //doc Object asyncSend(message) Same as @@.
    asyncSend := getSlot("@@")

    actorSend := method(aMessage,
        future := Future clone setRunTarget(self) setRunMessage(aMessage)
        self actorRun
        self actorQueue append(future)
        future
    )

    //doc Object actorRun Makes the receiver an actor, or wakes it if it has nothing to do.
    actorRun := method(
        if(self hasLocalSlot("actorCoroutine") not,
            self actorQueue := List clone
            self actorCoroutine := self coroWith(actorProcessQueue) setRunLocals(self)
            self actorCoroutine resumeLater
        ,
            if(self actorQueue isEmpty, self actorCoroutine resumeLater)
        )
    )

    //doc Object actorProcessQueue Works on the queued messages for ever, and lets others run after each.
    actorProcessQueue := method(
        loop(
            while(self actorQueue size > 0,
                future := self actorQueue first
                raised := try(future setResult(self doMessage(future runMessage)))
                self actorQueue removeFirst
                if(raised,
                    future setFailure(raised)
                    self handleActorException(raised)
                )
                if(self actorQueue size > 0, yield)
            )
            self actorCoroutine pause
        )
    )

    //doc Object handleActorException(anException) Called when an asynchronous message raises. Leaves the exception unhandled, so that it is reported when the program ends, unless somebody waits for the result and gets it.
    handleActorException := method(anException, anException leaveUnhandled)
)

//metadoc Notifier description An object that tells its listeners about events.
Notifier := Object clone do(
    //doc Notifier addListener(anObject) Adds a listener. Returns self.
    addListener := method(listener,
        if(self hasLocalSlot("listeners") not, self listeners := List clone)
        listeners append(listener)
        self
    )

    //doc Notifier removeListener(anObject) Removes a listener. Returns self.
    removeListener := method(listener,
        if(self hasSlot("listeners"), listeners remove(listener))
        self
    )

    //doc Notifier notifyListeners(message) Sends the message to each listener that knows it.
    notifyListeners := method(
        event := call argAt(0)
        if(self hasSlot("listeners"),
            listeners foreach(listener,
                if(listener hasSlot(event name),
                    stopStatus(listener doMessage(event, call sender))
                )
            )
        )
        self
    )
)

//doc Number actorRun Same as in Object, for a clone of Number; a plain number has nowhere to keep a queue.
Number actorRun := method(
    if(self clone isIdenticalTo(self),
        Exception raise("a plain Number cannot be an actor, for it has no slots; clone Number first")
    )
    resend
)
