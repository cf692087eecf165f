// Block and CFunction: calling with a list of arguments, and printing code back as source.

//metadoc Block description Code with named arguments: a method, or a block that keeps its scope.
getSlot("Block") do(
    //doc Block asSimpleString Returns the kind and the argument names of the receiver.
    asSimpleString := method(
        kind := if(getSlot("self") scope, "block", "method")
        kind .. "(" .. getSlot("self") argumentNames clone append("...") join(", ") .. ")"
    )

    //doc Block asString Returns the receiver's code, formatted.
    asString := method(Formatter clone formatBlock(getSlot("self")) buffer)

    //doc Block print Writes the receiver's code on lines of its own. Returns nil.
    print := method(writeln; writeln(getSlot("self") asString))

    //doc Block println Same as print.
    println := getSlot("print")

    //doc Block callWithArgList(aList) Calls the block with the items of the list as arguments.
    callWithArgList := method(arguments,
        getSlot("self") doMessage(arguments asMessage setName("call"))
    )

    //doc Block Formatter Prints message trees as source, with line breaks where the source had them and operators between their operands.
    Formatter := Object clone do(
        buffer ::= nil
        depth ::= 0
        lineNumber ::= 0
        isLineEmpty ::= true
        operators ::= nil
        assignments ::= nil

        init := method(
            self buffer := Sequence clone
            self operators := OperatorTable operators
            self assignments := OperatorTable reverseAssignOperators
            assignments atPut("setSlotWithType", ":=")
        )

        formatBlock := method(aBlock,
            body := getSlot("aBlock") message
            if(body label != "Command Line",
                emit("# " .. body label .. ":" .. body lineNumber .. "\n")
            )
            emit("method(")
            getSlot("aBlock") argumentNames foreach(name, emit(name .. ", "))
            newLine
            lineNumber = body lineNumber
            formatIndented(body)
            newLine
            emit(")")
            self
        )

        formatIndented := method(aMessage,
            depth = depth + 1
            formatChain(aMessage)
            depth = depth - 1
        )

        // Follows a chain of messages; end-of-line messages show only between two statements of one line.
        formatChain := method(first,
            current := first
            while(current,
                if(current isEndOfLine,
                    if(current next and(current next lineNumber == lineNumber), emit(current name))
                ,
                    moveToLineOf(current)
                    if(isLineEmpty, indent, if(current != first, emit(" ")))
                    formatMessage(current)
                )
                current = current next
            )
        )

        formatMessage := method(aMessage,
            if(isAssignment(aMessage), return formatAssignment(aMessage))
            emit(aMessage name)
            if(operators hasKey(aMessage name),
                emit(" ")
                if(aMessage argCount > 0, formatChain(aMessage argAt(0)))
            ,
                if(aMessage argCount > 0, formatArguments(aMessage))
            )
        )

        isAssignment := method(aMessage,
            assignments hasKey(aMessage name) and(
                aMessage argCount > 0) and(aMessage argAt(0) cachedResult isNil not)
        )

        formatAssignment := method(aMessage,
            emit(aMessage argAt(0) cachedResult .. " " .. assignments at(aMessage name) .. " ")
            if(aMessage argCount > 1, formatChain(aMessage argAt(1)))
        )

        formatArguments := method(aMessage,
            firstLine := lineNumber
            emit("(")
            aMessage arguments foreach(index, argument,
                if(index > 0, formatSeparator(firstLine == lineNumber))
                formatIndented(argument)
            )
            if(firstLine != lineNumber, newLine; indent)
            emit(")")
        )

        formatSeparator := method(isSameLine,
            if(isSameLine,
                emit(", ")
            ,
                newLine
                indent
                emit(",")
                newLine
            )
        )

        emit := method(text,
            buffer appendSeq(text)
            isLineEmpty = false
        )

        indent := method(depth repeat(emit("    ")))

        newLine := method(
            buffer appendSeq("\n")
            lineNumber = lineNumber + 1
            isLineEmpty = true
        )

        moveToLineOf := method(aMessage,
            (aMessage lineNumber - lineNumber) minMax(0, 2) repeat(newLine)
            lineNumber = aMessage lineNumber
        )
    )
)

getSlot("CFunction") do(
    //doc CFunction name Returns the name of the primitive, with the type that it belongs to.
    name := method(
        owner := getSlot("self") typeName ifNilEval("Object")
        owner .. "_" .. (getSlot("self") uniqueName ifNilEval("<unnamed>")) .. "()"
    )

    //doc CFunction asSimpleString Returns the name of the primitive.
    asSimpleString := method(getSlot("self") name)

    //doc CFunction asString Same as asSimpleString.
    asString := getSlot("asSimpleString")
)
