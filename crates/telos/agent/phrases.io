// How an agent looks at an image and changes it, by paths: list("Account", "tax") is the slot tax of Account in the Lobby.
// Evaluated in the dream for each request, and forgotten after it. Values are read by getSlot only: a name would call them.
Object clone do(
    slotAt := method(path,
        place := Lobby
        path foreach(name,
            if(getSlot("place") hasSlot(name) not,
                Exception raise("there is no slot \"" .. name .. "\" in the path \"" .. path join(" ") .. "\"")
            )
            place = getSlot("place") getSlot(name)
        )
        getSlot("place")
    )

    kindOf := method(value,
        if(getSlot("value") type != "Block", return getSlot("value") type)
        if(getSlot("value") scope, "block", "method")
    )

    // The value of code is its source; of methods as it was written, without the line that says where.
    described := method(value,
        kind := kindOf(getSlot("value"))
        description := Map clone atPut("kind", kind) atPut("value", getSlot("value"))
        if(kind == "block", description atPut("value", getSlot("value") code))
        if(kind == "method",
            lines := getSlot("value") asString split("\n")
            description atPut("value", if(lines first beginsWithSeq("# "), lines rest, lines) join("\n"))
        )
        description
    )

    get := method(path, warned(path, described(slotAt(path))))

    // With what was tried with the same object before and refused, if there is anything.
    warned := method(path, description,
        refused := refusedOf(slotAt(path slice(0, path size - 1)))
        if(refused isEmpty, return description)
        description atPut("rejections", refused slice((refused size - warningsMax) max(0)))
    )

    warningsMax := 3

    // An image that was born before there were any has none.
    refusedOf := method(object,
        if(Lobby hasLocalSlot("Telos") not or(Telos hasSlot("rejectionsOf") not), return list())
        toldOf(Telos rejectionsOf(getSlot("object")))
    )

    rejections := method(path,
        if(path isEmpty not, return refusedOf(slotAt(path)))
        if(Lobby hasLocalSlot("Telos") not or(Telos hasSlot("rejections") not), return list())
        toldOf(Telos rejections slice((Telos rejections size - rejectionsMax) max(0)))
    )

    rejectionsMax := 100

    toldOf := method(refused,
        refused map(each,
            Map with("dream", each dream, "mandate", each mandate, "objects", each names, "reasons", each reasons)
        )
    )

    set := method(path, source,
        owner := slotAt(path slice(0, path size - 1))
        name := path last
        value := Lobby doString(source, "agent")
        // As := does, which lets an object know its name.
        if(name at(0) isUppercase,
            getSlot("owner") setSlotWithType(name, getSlot("value")),
            getSlot("owner") setSlot(name, getSlot("value"))
        )
        warned(path, described(getSlot("value")))
    )

    slots := method(path,
        object := slotAt(path)
        names := getSlot("object") slotNames sort
        shown := names slice(0, slotsMax) map(name,
            Map clone atPut("name", name) atPut("kind", kindOf(getSlot("object") getSlot(name)))
        )
        Map clone atPut("kind", kindOf(getSlot("object"))) atPut("slots", shown) atPut("count", names size)
    )

    slotsMax := 10000

    tests := method(
        results := list()
        Lobby foreachSlot(caseName, case,
            if(getSlot("case") isActivatable not and(getSlot("case") isKindOf(UnitTest)),
                getSlot("case") testSlotNames foreach(testName, results append(tested(caseName, case, testName)))
            )
        )
        failures := results select(at("passed") not) size
        Map clone atPut("passed", results size - failures) atPut("failed", failures) atPut("results", results)
    )

    tested := method(caseName, case, testName,
        raised := try(
            case setUp
            stopStatus(case perform(testName))
        )
        after := try(case tearDown)
        raised = if(raised, raised, after)
        result := Map clone atPut("test", caseName .. " " .. testName) atPut("passed", raised isNil)
        if(raised, result atPut("error", raised error))
        result
    )
)
