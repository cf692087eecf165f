// OperatorTable: the operators that the parser knows, and how to add some.

//metadoc OperatorTable description The operators of the language and their precedence.
OperatorTable do(
    //doc OperatorTable addOperator(name, precedence) Lets messages of that name be written between their operands; 0, the default, binds tightest. Returns self.
    addOperator := method(name, precedence,
        operators atPut(name, precedence ifNilEval(0))
        self
    )

    //doc OperatorTable addAssignOperator(name, messageName) Lets slot name value be written for messageName("slot", value). Returns self.
    addAssignOperator := method(name, messageName,
        assignOperators atPut(name, messageName)
        self
    )

    //doc OperatorTable reverseAssignOperators Returns a Map from message names to assignment operators.
    reverseAssignOperators := method(assignOperators reverseMap)

    //doc OperatorTable asString Returns all operators by precedence, and how to add one.
    asString := method(
        text := Sequence clone appendSeq(self asSimpleString, ":\nOperators")
        operators values unique sort foreach(precedence,
            names := operators keys select(name, operators at(name) == precedence) sort
            text appendSeq("\n  ", precedence asString alignLeft(4), names join(" "))
        )
        text appendSeq("\n\nAssign Operators")
        assignOperators keys sort foreach(name,
            text appendSeq("\n  ", name alignLeft(4), assignOperators at(name))
        )
        text appendSeq(
            "\n\nTo add a new operator: OperatorTable addOperator(\"+\", 4) and implement the + message.\n",
            "To add a new assign operator: OperatorTable addAssignOperator(\"=\", \"updateSlot\") and implement the updateSlot message.\n"
        )
    )
)

// The parser asks the message that it shuffles for its table.
Message OperatorTable := OperatorTable
