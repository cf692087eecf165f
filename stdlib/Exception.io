// Exception and Error: raising, catching, and resuming where a problem was signalled.
//
// Unwinding is the VM's: Exception rawRaise leaves for the nearest try, or ends the coroutine.
// It notes in the exception where it was raised: coroutine, caughtMessage, stackMessages and
// stackCalls.

//metadoc Exception description What is raised when something goes wrong.
Exception do(
    type := "Exception"

    //doc Exception error Returns what went wrong.
    error ::= nil

    //doc Exception coroutine Returns the coroutine in which the exception was raised.
    coroutine ::= nil

    //doc Exception caughtMessage Returns the message that failed, for errors of primitives.
    caughtMessage ::= nil

    //doc Exception nestedException Returns the exception that caused this one, if it was given.
    nestedException ::= nil

    //doc Exception originalCall Returns the call that is to blame, if raiseFrom named one.
    originalCall ::= nil

    //doc Exception unknownMessage Returns the name of the message that nobody answered, if that is what went wrong.
    unknownMessage ::= nil

    //doc Exception unknownTarget Returns who did not answer it.
    unknownTarget ::= nil

    //doc Exception stackMessages Returns a list of the messages under way at the time of raising, innermost first, or nil.
    stackMessages ::= nil

    // The messages that called the running methods, innermost first, each followed by its receiver.
    stackCalls ::= nil

    //doc Exception stackEntries Returns a list of descriptions of the calls at the time of raising, innermost first.
    stackEntries := method(
        entries := List clone
        for(index, 0, if(stackCalls, stackCalls size, 0) - 2, 2,
            receiver := stackCalls at(index + 1)
            entries append(stackCalls at(index) descriptionFor(getSlot("receiver")))
        )
        entries
    )

    //doc Exception raise(error, nestedException) Raises a new exception of the receiver's kind.
    raise := method(error, nestedException,
        self withError(error, nestedException) rawRaise
    )

    //doc Exception raiseFrom(call, error, nestedException) Same as raise, blaming the given call: the stack is shown from there on.
    raiseFrom := method(originalCall, error, nestedException,
        self withError(error, nestedException) setOriginalCall(originalCall) rawRaise
    )

    withError := method(error, nestedException,
        self clone setError(error) setNestedException(nestedException) setCoroutine(Coroutine currentCoroutine)
    )

    //doc Exception catch(exceptionProto, expression) If the receiver is of that kind, evaluates the expression and returns nil; otherwise returns the exception, for the next catch or pass.
    catch := method(exceptionProto,
        if(self isKindOf(exceptionProto), self markHandled; call evalArgAt(1); nil, self)
    )

    //doc Exception pass Raises the exception again, for the next try further out.
    pass := method(self rawRaise)

    //doc Exception signal(error, nestedException) Asks the innermost matching withHandler what to do and returns its answer; raises if there is none.
    signal := method(error, nestedException,
        signalled := self withError(error, nestedException)
        handler := signalled findHandler
        if(nil isIdenticalTo(getSlot("handler")),
            signalled rawRaise
        ,
            handler call(signalled, Resumption)
        )
    )

    findHandler := method(
        coroutine := Coroutine currentCoroutine
        while(coroutine,
            handlers := coroutine handlerStack
            if(handlers, handlers reverseForeach(entry,
                if(self isKindOf(entry at(0)), return entry at(1))
            ))
            coroutine = coroutine parentCoroutine
        )
        nil
    )

    //doc Exception Resumption What a handler receives as its second argument: resume invoke(value) answers the signal with value.
    Resumption := Object clone do(
        invoke := method(value, getSlot("value"))
    )

    //doc Exception asString Returns the type, what went wrong, and where.
    asString := method(
        text := self type .. ": " .. self error
        place := if(originalCall, originalCall message, caughtMessage)
        if(place and(place lineNumber > 0), text .. " (" .. place label .. ":" .. place lineNumber .. ")", text)
    )

    //doc Exception asSimpleString Returns the type and what went wrong.
    asSimpleString := method(self type .. ": " .. self error)

    //doc Exception backTraceString Returns the error and the calls that led to it, a line each.
    backTraceString := method(
        lines := Sequence clone
        lines appendSeq("\n  ", self type, ": ", self error, "\n  ---------\n")
        // Where somebody is to blame, the message that raised it is the library's.
        if(caughtMessage and(originalCall isNil), lines appendSeq("  ", caughtMessage description, "\n"))
        entries := blamedEntries
        entries foreach(entry, lines appendSeq("  ", entry, "\n"))
        if(caughtMessage isNil and(entries isEmpty), lines appendSeq("  nothing on stack\n"))
        lines appendSeq("\n")
    )

    blamedEntries := method(
        entries := stackEntries
        first := if(originalCall, entries indexOf(originalCall description), nil)
        if(first, entries slice(first), entries)
    )

    //doc Exception showStack Writes the error and the calls that led to it, and the same for the nested exception.
    showStack := method(
        write(backTraceString)
        if(nestedException,
            writeln("Nested Exception: '", nestedException error, "'")
            nestedException showStack
        )
    )
)

nil do(
    //doc nil catch(exceptionProto, expression) Returns nil: nothing was raised.
    catch := nil

    //doc nil pass Returns nil: nothing was raised.
    pass := nil
)

Object do(
    //doc Object withHandler(exceptionProto, handler, body) Returns the value of the body. While it runs, an exception of that kind that is signalled calls the handler with the exception and a Resumption, and goes on with the handler's value.
    withHandler := method(exceptionProto, handler,
        coroutine := Coroutine currentCoroutine
        if(coroutine handlerStack isNil, coroutine setHandlerStack(List clone))
        handlers := coroutine handlerStack
        depth := handlers size
        handlers append(list(exceptionProto, getSlot("handler")))
        result := nil
        raised := try(result := call relayStopStatus(call evalArgAt(2)))
        handlers sliceInPlace(0, depth)
        raised pass
        getSlot("result")
    )
)

// Errors as values: a method may return an Error instead of raising an exception.

Object do(
    //doc Object isError Returns false.
    isError := false

    //doc Object ifError(expression) Returns self without evaluating the expression.
    ifError := method(self)

    //doc Object returnIfError Returns self.
    returnIfError := getSlot("ifError")

    //doc Object raiseIfError Returns self.
    raiseIfError := getSlot("ifError")
)

//metadoc Error description A failure that is returned as a value.
Error do(
    //doc Error isError Returns true.
    isError := true

    //doc Error with(message) Returns a new Error with the message and the location of the sender.
    with := method(message,
        error := self clone
        error message := message
        error location := call message label .. ":" .. call message lineNumber
        error
    )

    //doc Error withShow(message) Same as with, and writes the message.
    withShow := method(message,
        writeln("ERROR: ", message)
        error := self clone
        error message := message
        error location := call message label .. ":" .. call message lineNumber
        error
    )

    //doc Error ifError(name, expression) Evaluates the expression in the sender, with the error in the slot name if one is given. Returns self.
    ifError := method(
        if(call argCount == 0, Exception raise("'ifError' needs at least 1 argument, got 0"))
        if(call argCount > 1, call sender setSlot(call argAt(0) name, self))
        call evalArgAt(call argCount - 1)
        self
    ) setPassStops(true)

    //doc Error returnIfError Makes the sender return the error.
    returnIfError := method(call sender return(self)) setPassStops(true)

    //doc Error raiseIfError Raises an exception with the error's message.
    raiseIfError := method(Exception raise(self message))
)
