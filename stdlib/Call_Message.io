// Call, Message and the stop statuses: what a running method knows of how it was called.

// A stop status says why an evaluation ended: normally, or by break, continue or return.

Normal do(
    //doc Normal stopLooping Returns true if a loop must end at this status.
    stopLooping := false

    isReturn := false
    isBreak := false
    isContinue := false

    return := method(value,
        call setStopStatus(Return)
        getSlot("value")
    )
)

Eol appendProto(Normal)

Continue appendProto(Normal) do(
    isContinue := true
)

Break appendProto(Normal) do(
    stopLooping := true
    isBreak := true
)

Return appendProto(Normal) do(
    stopLooping := true
    isReturn := true

    //doc Return return(value) Makes the method that asks return value.
    return := method(value,
        call setStopStatus(Return)
        call sender call setStopStatus(Return)
        getSlot("value")
    )
)

//metadoc Call description How a running method was called: sender, target, message and arguments.
Call do(
    //doc Call relayStopStatus(expression) Returns the value of the expression. If a break, continue or return ended it, the running method passes that on to its own sender.
    relayStopStatus := method(
        status := stopStatus(value := call evalArgAt(0))
        call sender call setStopStatus(status)
        getSlot("value")
    )

    //doc Call resetStopStatus Sets the stop status to Normal.
    resetStopStatus := method(setStopStatus(Normal))

    //doc Call hasArgs Returns true if the call has arguments.
    hasArgs := method(self message argCount > 0)

    //doc Call evalArgs Returns a list of all arguments, evaluated in the sender.
    evalArgs := method(self message argsEvaluatedIn(self sender)) setPassStops(true)

    //doc Call delegateTo(target, sender) Sends the call's message to another target, with the same sender unless another is given.
    delegateTo := method(newTarget, newSender,
        forwarded := self message clone setNext
        call relayStopStatus(getSlot("newTarget") doMessage(forwarded, if(newSender isNil, self sender, newSender)))
    )

    //doc Call delegateToMethod(target, name) Sends the call's message to another target under another name.
    delegateToMethod := method(newTarget, name,
        renamed := self message clone setNext setName(name)
        call relayStopStatus(getSlot("newTarget") doMessage(renamed, self sender))
    )

    //doc Call iterationContext Returns a fresh context for the body of a loop: it sees the sender's slots, but what the body defines stays in it.
    iterationContext := method(
        outer := self sender
        context := Object clone prependProto(getSlot("outer"))
        if(getSlot("outer") hasLocalSlot("self"),
            context setSlot("self", getSlot("outer") getSlot("self"))
        )
        context
    )

    //doc Call description Returns a line with the target's type, the message's name, file and line.
    description := method(
        receiver := self target
        self message descriptionFor(getSlot("receiver"))
    )
)

//metadoc Message description A piece of code: a name, arguments and the next message.
Message do(
    //doc Message union(message) Returns a message with the receiver and the arguments of the given message as its arguments.
    union := method(
        Message clone setArguments(list(self) appendSeq(call argAt(0) arguments))
    )

    //doc Message description Returns a line with the name, file and line of the message.
    description := method(
        self name alignLeft(36) .. self label lastPathComponent .. " " .. self lineNumber
    )

    //doc Message descriptionFor(receiver) Returns a line with the type of the receiver, and the name, file and line of the message.
    descriptionFor := method(receiver,
        sent := getSlot("receiver") type .. " " .. self name
        sent alignLeft(36) .. " " .. self label lastPathComponent .. " " .. self lineNumber
    )

    //doc Message asStackEntry Returns a line with the file, line and name of the message.
    asStackEntry := method(
        self label lastPathComponent fileName alignLeft(19) .. self lineNumber asString alignLeft(7) .. self name
    )

    //doc Message asSimpleString Returns the code on one line, shortened to 40 characters.
    asSimpleString := method(
        code := self asString asMutable replaceSeq(" ;\n", "; ")
        if(code size > 40, code exclusiveSlice(0, 37) .. "...", code)
    )

    //doc Message codeOfLength(length) Returns the code on one line, shortened to the given length.
    codeOfLength := method(length,
        code := self code
        if(code size >= length, code = code exclusiveSlice(0, length) .. "...")
        code asMutable replaceSeq("\n", ";")
    )
)
