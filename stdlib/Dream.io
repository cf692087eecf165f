// Dream: a sealed fork of the image, in which code is tried. It begins when the transaction that
// asked for it is committed, sees the image as it is then, and changes its own copy only.

//metadoc Dream description A sealed fork of the image: what was tried in it, what that changed, and how it ended.
Dream do(
    //doc Dream id Returns the name by which `telos dream show` knows it.
    id ::= nil

    //doc Dream mandate Returns what it is for, in words.
    mandate ::= ""

    //doc Dream begin(mandate, block) Asks for a dream in which the block is called, without its locals, and returns it. Begins when this transaction is committed. In place of the block there may be a Map with "block", and with "timeout" (seconds, of all of it), "fuel" and "memory" (bytes), which bound the block.
    begin := method(mandate, options,
        given := optionsOf(getSlot("options"), list("block", "timeout", "fuel", "memory"))
        source := "(" .. given at("block") code .. ") call"
        dream := Dream order(mandate, source, given at("timeout"), given at("fuel"), given at("memory"))
        Dream clone setMandate(mandate) setId(dream)
    )

    // A block, or a Map with one and with options beside it, as a Map. What is misspelt would be left out in silence.
    optionsOf := method(given, names,
        options := if(getSlot("given") isKindOf(Map), given, Map clone atPut("block", getSlot("given")))
        options keys foreach(key,
            if(names contains(key) not, Exception raise("there is no option \"" .. key .. "\": take " .. names join(", ")))
        )
        if(options at("block") isKindOf(Block) not,
            Exception raise("a dream needs a block: what is to happen in it, by itself or as \"block\" of a Map")
        )
        options
    )

    //doc Dream page Returns all that is known of it, as a Map, or nil if it has not begun.
    page := method(
        text := Dream pageOf(id)
        if(text isNil, nil, text parseJson)
    )

    ask := method(name, default,
        found := page
        if(found isNil, default, found at(name))
    )

    //doc Dream status Returns "waiting", "running", "ended", "failed" or "killed".
    status := method(ask("status", "waiting"))

    //doc Dream isOver Returns true if nothing more will happen in it.
    isOver := method(list("waiting", "running") contains(status) not)

    //doc Dream journal Returns what it changed, as a list of Maps, one for each change.
    journal := method(ask("changes", list()))

    //doc Dream diff Returns what it changed as text that a person can read.
    diff := method(ask("text", ""))

    //doc Dream log Returns what the program wrote in it, and why it failed, if it did.
    log := method(ask("output", ""))

    //doc Dream merge(policy, tests, timeout) Asks that it be judged when it is over, and merged if nothing speaks against it. The policy, which may be left out, says who wins where both wrote: "fork-wins", "live-wins", "last-writer-wins" or "keep-both". The tests, a list of names such as "AccountTest testTax", are what the mandate asks for. The timeout, in seconds, is that of judging it. Returns self.
    merge := method(policy, tests, timeout,
        Dream mergeOf(id, policy, if(tests isNil, nil, checkedTests(tests) join("\n")), timeout)
        self
    )

    checkedTests := method(tests,
        wrong := "\"tests\" is a list of names such as \"AccountTest testTax\": a case and a test of it"
        if(tests isKindOf(List) not, Exception raise(wrong))
        tests foreach(name, if(name isKindOf(Sequence) not, Exception raise(wrong)))
        tests foreach(name, if(name split size != 2, Exception raise(wrong)))
        tests
    )

    //doc Dream keep Keeps what is known of it until it is discarded. Returns self.
    keep := method(Dream keepOf(id); self)

    //doc Dream discard Removes what is known of it. Returns self.
    discard := method(Dream discardOf(id); self)
)

// What the image writes down of merges. What has one of these as its proto was written by whoever
// judged, and no dream changes it.

Dream do(
    //metadoc Record description What was written down about a merge or a rejection. Dream Record is the prototype.
    Record := Object clone

    //metadoc Merge description A merge, in Telos merges. Dream Merge is the prototype.
    Merge := Record clone

    //metadoc Conflict description A place that two sides wrote to, in Telos conflicts. Dream Conflict is the prototype.
    Conflict := Record clone

    //metadoc Sibling description What one side of a conflict wrote. Dream Sibling is the prototype.
    Sibling := Record clone

    //metadoc Violation description What a merge left out because the whole would break a rule. Dream Violation is the prototype.
    Violation := Record clone

    //metadoc Delivery description Files to be applied or a call to be made after a merge, in Telos outbox. Dream Delivery is the prototype.
    Delivery := Record clone

    //metadoc Records description A list that belongs to a Record. Dream Records is the prototype.
    Records := List clone

    //metadoc Rejection description A dream that was refused: dream, mandate, agent, time, reasons, objects that it touched, names of those, and the verdict. Dream Rejection is the prototype.
    Rejection := Record clone do(
        //doc Rejection touches(object) Returns true if the dream would have changed the object.
        touches := method(object, objects detect(each, getSlot("each") isIdenticalTo(getSlot("object"))) isNil not)

        //doc Rejection asMap Returns it as a Map, for JSON; objects as their names.
        asMap := method(
            Map with(
                "dream", dream, "mandate", mandate, "agent", agent, "time", time, "reasons", reasons,
                "objects", names, "verdict", verdict asMap
            )
        )

        asString := method(dream .. " (" .. mandate .. "): " .. reasons join("; "))
    )
)
