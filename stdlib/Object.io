// Object, nil, true and false: truth, slots, inheritance and printing.
//
// A receiver may be a method or a block, and touching such a slot runs it. Everything here that
// any object can receive therefore reads self through getSlot("self").

//metadoc Object description The root of all prototypes: slots, inheritance, control flow and printing.
true do(
    //doc true then(expression) Evaluates the expression and returns nil, which ends an if chain.
    then := Object getSlot("evalArgAndReturnNil")

    //doc true elseif(expression) Returns true without evaluating the expression.
    elseif := true

    //doc true else(expression) Returns true without evaluating the expression.
    else := true

    //doc true ifTrue(expression) Evaluates the expression and returns true.
    ifTrue := Object getSlot("evalArgAndReturnSelf")

    //doc true ifFalse(expression) Returns true without evaluating the expression.
    ifFalse := true

    //doc true not Returns false.
    not := false

    //doc true clone Returns true: there is only one.
    clone := true

    asString := "true"
    asSimpleString := "true"
)

false do(
    //doc false then(expression) Returns false without evaluating the expression.
    then := false

    //doc false elseif(condition, expression, alternative) Same as if.
    elseif := Object getSlot("if")

    //doc false else(expression) Evaluates the expression and returns nil.
    else := Object getSlot("evalArgAndReturnNil")

    //doc false ifTrue(expression) Returns false without evaluating the expression.
    ifTrue := false

    //doc false ifFalse(expression) Evaluates the expression and returns false.
    ifFalse := Object getSlot("evalArgAndReturnSelf")

    //doc false and(expression) Returns false without evaluating the expression.
    setSlot("and", false)

    //doc false or(expression) Returns whether the expression is true.
    setSlot("or", method(other, getSlot("other") isTrue))

    //doc false not Returns true.
    not := true

    //doc false isTrue Returns false.
    isTrue := false

    //doc false clone Returns false: there is only one.
    clone := false

    type := "false"
    asString := "false"
    asSimpleString := "false"
)

nil do(
    //doc nil then(expression) Returns nil without evaluating the expression.
    then := nil

    //doc nil elseif(expression) Returns nil without evaluating the expression.
    elseif := nil

    //doc nil else(expression) Returns nil without evaluating the expression.
    else := nil

    //doc nil and(expression) Returns false without evaluating the expression.
    setSlot("and", false)

    //doc nil or(expression) Returns whether the expression is true.
    setSlot("or", false getSlot("or"))

    //doc nil not Returns true.
    not := true

    //doc nil isTrue Returns false.
    isTrue := false

    //doc nil isNil Returns true.
    isNil := true

    //doc nil ifNil(expression) Evaluates the expression and returns nil.
    ifNil := Object getSlot("evalArgAndReturnSelf")

    //doc nil ifNonNil(expression) Returns nil without evaluating the expression.
    ifNonNil := Object getSlot("thisContext")

    //doc nil ifNilEval(expression) Returns the value of the expression.
    ifNilEval := Object getSlot("evalArg")

    //doc nil ifNonNilEval(expression) Returns nil without evaluating the expression.
    ifNonNilEval := Object getSlot("thisContext")

    //doc nil clone Returns nil: there is only one.
    clone := nil

    type := "nil"
    asString := "nil"
    asSimpleString := "nil"
)

// Truth. Everything but nil and false is true.

Object do(
    //doc Object and(expression) Returns whether the expression is true.
    setSlot("and", method(other, getSlot("other") isTrue))

    //doc Object or(expression) Returns true without evaluating the expression.
    setSlot("or", true)

    //doc Object not Returns nil.
    not := nil

    //doc Object isTrue Returns true.
    isTrue := true

    //doc Object isNil Returns false.
    isNil := false

    //doc Object ifNil(expression) Returns self without evaluating the expression.
    ifNil := Object getSlot("thisContext")

    //doc Object ifNonNil(expression) Evaluates the expression and returns self.
    ifNonNil := Object getSlot("evalArgAndReturnSelf")

    //doc Object ifNilEval(expression) Returns self without evaluating the expression.
    ifNilEval := Object getSlot("thisContext")

    //doc Object ifNonNilEval(expression) Returns the value of the expression.
    ifNonNilEval := Object getSlot("evalArg")
)

// Slots.

Object do(
    //doc Object hasSlot(name) Returns true if the receiver or one of its ancestors has the slot.
    hasSlot := method(name,
        nil isIdenticalTo(getSlot("self") contextWithSlot(name)) not
    )

    //doc Object lazySlot(code) Returns a method that evaluates code once, when first asked, and leaves the value in its slot. With lazySlot(name, code) the method is put in the slot name and nil returned.
    lazySlot := method(
        named := call argCount > 1
        store := message(self setSlot(call message name, nil)) clone
        nameArgument := if(named,
            Message clone setCachedResult(call evalArgAt(0))
        ,
            store next argAt(0)
        )
        store next setArguments(list(nameArgument, call argAt(call argCount - 1) clone))
        initializer := method() setMessage(store)
        if(named,
            self setSlot(nameArgument cachedResult, getSlot("initializer"))
            nil
        ,
            getSlot("initializer")
        )
    )

    //doc Object inlineMethod(code) Returns code as a method that runs directly in the context of whoever activates it, without locals of its own.
    inlineMethod := method(call argAt(0) setIsActivatable(true))

    //doc Object addTrait(anObject, renames) Copies the slots of anObject into the receiver. A slot that the receiver has already must have a new name in the Map renames.
    addTrait := method(trait, renames,
        if(call argCount == 0, Exception raiseMissing("addTrait"))
        if(renames isNil, renames = Map clone)
        getSlot("trait") foreachSlot(name, value,
            if(getSlot("self") hasLocalSlot(name),
                if(name == "type", continue)
                newName := renames at(name)
                if(newName isNil,
                    Exception raise("Slot '" .. name .. "' already exists in " .. getSlot("self") asSimpleString .. ". Give it a new name in the map argument.")
                )
            ,
                newName := name
            )
            getSlot("self") setSlot(newName, getSlot("value"))
        )
        getSlot("self")
    )

    //doc Object slotDescriptionMap Returns a Map from the receiver's slot names to short descriptions of their values.
    slotDescriptionMap := method(
        descriptions := Map clone
        getSlot("self") slotNames foreach(name,
            descriptions atPut(name, getSlot("self") getSlot(name) asSimpleString)
        )
        descriptions
    )

    //doc Object slotSummary(keyword) Returns a text with a line for each slot; with a keyword, only for slots whose name contains it.
    slotSummary := method(keyword,
        if(getSlot("self") type == "Block", return getSlot("self") asSimpleString)
        " " .. getSlot("self") asSimpleString .. ":\n" .. getSlot("self") slotLines(keyword)
    )

    slotLines := method(keyword,
        descriptions := getSlot("self") slotDescriptionMap
        lines := Sequence clone
        descriptions keys sort foreach(name,
            if(keyword and(name asLowercase containsSeq(keyword) not), continue)
            lines appendSeq("  ", name alignLeft(16), " = ", descriptions at(name), "\n")
        )
        lines
    )

    //doc Object apropos(keyword) Prints the slots of every core prototype whose name contains the keyword.
    apropos := method(keyword,
        Protos Core foreachSlot(name, prototype,
            if(getSlot("prototype") hasSlot("slotLines") not, continue)
            lines := getSlot("prototype") slotLines(keyword)
            if(lines size > 0, writeln(name, "\n", lines))
        )
        nil
    )
)

// Inheritance.

Object do(
    //doc Object ancestors Returns a list of the receiver and all its protos, in lookup order.
    ancestors := method(
        found := List clone
        pending := list(getSlot("self"))
        while(pending size > 0,
            candidate := pending pop
            if(found containsIdenticalTo(getSlot("candidate")), continue)
            found append(getSlot("candidate"))
            pending appendSeq(getSlot("candidate") protos reverse)
        )
        found
    )

    //doc Object isKindOf(anObject) Returns true if anObject is the receiver or one of its ancestors.
    isKindOf := method(anObject, getSlot("self") hasProto(getSlot("anObject")))

    //doc Object super(message) Sends the message to the next ancestor that knows it, with the same self.
    setSlot("super", method(
        inherited := call argAt(0)
        if(inherited isNil, Exception raise("'super' needs an argument: super(message)"))
        running := call sender call
        running performInherited("super", inherited, call sender)
    ))

    //doc Object resend Sends the message of the running method to the next ancestor that knows it, with the same self and arguments.
    setSlot("resend", method(
        running := call sender call
        running performInherited("resend", running message, running sender)
    ))
)

Call do(
    // Looks a message up above the place where this call's own method was found, and runs it on
    // this call's target; the arguments are evaluated in argumentContext.
    performInherited := method(operation, aMessage, argumentContext,
        start := self slotContext
        if(start isNil, Exception raise("Object " .. operation .. " called outside of block context"))
        name := aMessage name
        holder := getSlot("start") ancestorWithSlot(name)
        if(nil isIdenticalTo(getSlot("holder")),
            name = "forward"
            holder = getSlot("start") ancestorWithSlot(name)
        )
        if(nil isIdenticalTo(getSlot("holder")) or(getSlot("start") isIdenticalTo(getSlot("holder"))),
            Exception raise("Object " .. operation .. " slot " .. aMessage name .. " not found")
        )
        inherited := getSlot("holder") getSlot(name)
        if(getSlot("inherited") isActivatable,
            getSlot("inherited") performOn(self target, getSlot("argumentContext"), aMessage, getSlot("holder"))
        ,
            getSlot("inherited")
        )
    )
)

// Control flow.

Object do(
    //doc Object ?(message) Sends the message if the receiver has such a slot; otherwise returns nil.
    setSlot("?", method(
        wanted := call argAt(0)
        if(wanted isNil or(nil isIdenticalTo(getSlot("self") getSlot(wanted name))),
            nil
        ,
            wanted doInContext(getSlot("self"), call sender)
        )
    ) setPassStops(true))

    //doc Object switch(key1, expression1, key2, expression2, ..., default) Evaluates the expression after the first key that equals the receiver, or else the default.
    switch := method(
        last := call argCount - 1
        key := 0
        while(key < last and((call evalArgAt(key) == getSlot("self")) not), key = key + 2)
        if(key > last, nil, call evalArgAt(if(key < last, key + 1, last)))
    ) setPassStops(true)

    //doc Object in(aList) Returns true if aList contains the receiver.
    in := method(aList, aList contains(getSlot("self")))
)

// Text.

Object do(
    //doc Object asString Same as slotSummary.
    asString := getSlot("slotSummary")

    //doc Object asSimpleString Returns the type and the unique id of the receiver.
    asSimpleString := method(getSlot("self") type .. "_" .. getSlot("self") uniqueHexId)

    //doc Object uniqueHexId Returns the unique id in hexadecimal, with the prefix 0x.
    uniqueHexId := method("0x" .. getSlot("self") uniqueId asString toBase(16))

    //doc Object ..(anObject) Returns both as strings, joined.
    setSlot("..", method(other, getSlot("self") asString .. getSlot("other") asString))

    //doc Object print Writes the receiver as a string. Returns the receiver.
    print := method(write(getSlot("self") asString); getSlot("self"))

    //doc Object println Prints the receiver and a line break. Returns the receiver.
    println := method(getSlot("self") print; write("\n"); getSlot("self"))

    //doc Object deprecatedWarning(newName) Warns that the running method is deprecated, in favour of newName if given. Returns self.
    deprecatedWarning := method(newName,
        old := call sender call message
        advice := if(newName, ".  Use '" .. newName .. "' instead.", " and will be removed from a later version.")
        writeln("Warning in ", old label, ": '", old name, "' is deprecated", advice)
        self
    )
)

// Files of code.

Object do(
    //doc Object launchFile(path) Evaluates the file as if it had been started from the command line in its own directory.
    launchFile := method(path,
        System launchPath := path pathComponent
        System launchScript = path
        Directory ?setCurrentWorkingDirectory(System launchPath)
        self doFile(path)
    )

    //doc Object isLaunchScript Returns true in the file that was started from the command line.
    isLaunchScript := method(call message label == System launchScript)

    //doc Object doRelativeFile(path) Evaluates the file, found relative to the file of the caller, in the receiver.
    doRelativeFile := method(path,
        self doFile(Path with(call message label pathComponent, path))
    )

    //doc Object relativeDoFile(path) Same as doRelativeFile.
    relativeDoFile := getSlot("doRelativeFile")
)
