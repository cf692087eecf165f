// Verification: whether a change may become part of the image. Checks judge a case, which is plain
// data: what was changed, what the image was before and is after, how its tests ended. What is in
// a case, and what each check refuses, is told in docs/verification.md.
//
// A clone has checks, rules and weights of its own, to be added to and taken from. Whatever is
// missing, raises or cannot be told is a reason to refuse.

//metadoc Verification description Judges whether a change may become part of the image.
Verification := Object clone do(
    //doc Verification checks The list of checks that judge a case.
    checks := list()

    //doc Verification safetyRules The list of rules that no change may break.
    safetyRules := list()

    //doc Verification purityRules The list of rules of architecture, each with its decision record.
    purityRules := list()

    //doc Verification weights A Map of what each term of the metric counts: cog, sol, struc and rel.
    weights := Map with("cog", 0.25, "sol", 0.25, "struc", 0.25, "rel", 0.25)

    //doc Verification tolerance By how much the metric may fall without a gain in relevance.
    tolerance := 0

    //doc Verification findingsMax How many findings of a check are told.
    findingsMax := 100

    //doc Verification archiveMax With how many of the last methods in the archive a method is compared.
    archiveMax := 256

    init := method(
        self checks := checks clone
        self safetyRules := safetyRules clone
        self purityRules := purityRules clone
        self weights := weights clone
    )

    //doc Verification checkNames Returns a list of the names of the checks.
    checkNames := method(checks map(name))

    //doc Verification judge(case) Returns the Verdict of all checks.
    judge := method(case, Verdict with(checkNames map(name, judgeOne(name, case))))

    //doc Verification judgeOne(name, case) Returns the result of one check: a Map with check, outcome ("passed", "failed" or "unsure") and findings.
    judgeOne := method(name, case,
        check := checks detect(each, each name == name)
        if(check isNil, Exception raise("there is no check \"" .. name .. "\""))
        findings := nil
        raised := try(findings = check judge(case, self) map(asMap))
        if(raised, findings = list(check finding("unsure: the check raised: " .. raised error) asMap))
        if(findings size > findingsMax,
            more := check finding("and " .. (findings size - findingsMax) .. " more")
            findings = findings slice(0, findingsMax) append(more asMap)
        )
        outcome := if(findings isEmpty, "passed",
            if(findings detect(at("reason") beginsWithSeq("unsure") not), "failed", "unsure")
        )
        Map with("check", name, "outcome", outcome, "findings", findings)
    )

    //doc Verification partOf(case, name) Returns what the case has by that name; raises an exception if there is nothing.
    partOf := method(case, name,
        if(case hasKey(name) not, Exception raise("the case has no \"" .. name .. "\""))
        case at(name)
    )
)

// What checks answer with.

Verification do(
    //metadoc Finding description Why a check refuses a change: check, reason and place. Verification Finding is the prototype.
    Finding := Object clone do(
        with := method(check, reason, place,
            found := self clone
            found check := check
            found reason := reason
            found place := place ifNilEval("")
            found
        )

        asMap := method(Map with("check", check, "reason", reason, "place", place))

        asString := method(if(place isEmpty, reason, place .. ": " .. reason))
    )

    //metadoc Result description What one check found: check, outcome ("passed", "failed" or "unsure"), reasons, and on what that rests. Verification Result is the prototype.
    Result := Object clone do(
        //doc Result check The name of the check.
        check := ""

        //doc Result outcome "passed", "failed" or "unsure".
        outcome := "unsure"

        //doc Result reasons A list of texts: what speaks against the change.
        reasons := list()

        //doc Result timeMs How long it took, or nil if nobody looked at a clock.
        timeMs := nil

        //doc Result reads Names of objects that it rests on, or their numbers; some of them.
        reads := list()

        //doc Result readCount How many objects it rests on.
        readCount := 0

        //doc Result with(result) Returns one from a Map as Verification judgeOne gives it.
        with := method(result,
            made := self clone
            made check := result at("check")
            made outcome := result at("outcome")
            made reasons := result at("findings") map(each,
                Verification Finding with("", each at("reason"), each at("place")) asString
            )
            made
        )

        //doc Result asMap Returns it as a Map, for JSON.
        asMap := method(
            Map with(
                "check", check, "outcome", outcome, "reasons", reasons,
                "timeMs", timeMs, "reads", reads, "readCount", readCount
            )
        )
    )

    //metadoc TestResult description How one test ended without a change and with it: name, kind, as Verification compareTests has them, before and after. Verification TestResult is the prototype.
    TestResult := Object clone do(
        asMap := method(
            Map with(
                "name", name, "kind", kind, "before", before, "after", after, "isAskedFor", isAskedFor,
                "timeMs", timeMs, "reads", reads, "readCount", readCount
            )
        )
    )

    //metadoc Verdict description What all checks found. Verification Verdict is the prototype.
    Verdict := Object clone do(
        //doc Verdict results The list of what each check found: clones of Verification Result.
        results := list()

        //doc Verdict tests The list of how tests ended, clones of Verification TestResult: those first that did not pass as they did before.
        tests := list()

        //doc Verdict testCount How many tests there are.
        testCount := 0

        //doc Verdict passCount How many of them passed.
        passCount := 0

        //doc Verdict with(results) Returns one from results, as Verification judgeOne gives them.
        with := method(results,
            verdict := self clone
            verdict results := results map(each, Verification Result with(each))
            verdict
        )

        //doc Verdict isAccepted Returns true if there are results, and each passed.
        isAccepted := method(results isEmpty not and(results detect(outcome != "passed") isNil))

        //doc Verdict reasons Returns a list of all that speaks against the change, each with the name of the check.
        reasons := method(results map(each, each reasons map(reason, each check .. ": " .. reason)) flatten)

        //doc Verdict asMap Returns it as a Map, for JSON.
        asMap := method(
            Map with(
                "isAccepted", isAccepted, "results", results map(asMap),
                "tests", tests map(asMap), "testCount", testCount, "passCount", passCount
            )
        )

        asString := method(
            lines := list(if(isAccepted, "accepted", "refused"))
            results foreach(result,
                lines append("  " .. result check .. ": " .. result outcome)
                result reasons foreach(reason, lines append("    " .. reason))
            )
            lines join("\n")
        )
    )

    //metadoc Check description Looks at a change from one side. Verification Check is the prototype.
    Check := Object clone do(
        //doc Check name Names the check in a Verdict.
        name := "check"

        //doc Check judge(case, verification) Returns a list of findings, which is empty if the check passed.
        judge := method(case, verification, list())

        //doc Check finding(reason, place) Returns a finding of this check.
        finding := method(reason, place, Verification Finding with(name, reason, place))
    )
)

// Code as data: a method is its source, since a case is text.

Verification do(
    // What a method is before its body: an argument may hide what the body names.
    headOf := method(source,
        code := Message fromString(source)
        list(code name) appendSeq(code arguments slice(0, -1) map(name))
    )

    // The body of a method, a Message; nil if it is empty.
    bodyOf := method(source,
        code := Message fromString(source)
        if(list("method", "block") contains(code name) not, return code)
        code argAt(code argCount - 1)
    )

    messagesOf := method(body,
        found := list()
        pending := list(body)
        while(pending isEmpty not,
            each := pending pop
            while(each,
                if(each isEndOfLine not, found append(each))
                pending appendSeq(each arguments)
                each = each next
            )
        )
        found
    )

    sourceOf := method(each,
        if(each argCount == 0, each name, each name .. "(" .. each arguments map(code) join(", ") .. ")")
    )

    statementsOf := method(body,
        found := list()
        words := list()
        while(body,
            if(body isEndOfLine, found append(words join(" ")); words = list(), words append(sourceOf(body)))
            body = body next
        )
        if(words isEmpty not, found append(words join(" ")))
        found
    )

    assertionsOf := method(body,
        asserting := messagesOf(body) select(each, each name beginsWithSeq("assert") or(each name == "fail"))
        asserting map(each, sourceOf(each))
    )

    //doc Verification survey(objects) Returns what a case tells of objects, a Map of them by name: for each its slots, methods, protos and what it refers to.
    survey := method(objects,
        names := Map clone
        objects foreach(name, object, names atPut(getSlot("object") uniqueId asString, name))
        found := Map clone
        objects foreach(name, object, found atPut(name, surveyOne(getSlot("object"), names)))
        found
    )

    surveyOne := method(object, names,
        nameOf := block(each,
            id := getSlot("each") uniqueId asString
            names at(id, "object " .. id)
        )
        methods := Map clone
        references := list()
        getSlot("object") foreachSlot(name, value,
            if(getSlot("value") isKindOf(Block), methods atPut(name, sourceOfValue(getSlot("value"))); continue)
            if(isObject(getSlot("value")), references append(nameOf call(getSlot("value"))))
        )
        parts := list()
        if(getSlot("object") isKindOf(List), parts = object)
        if(getSlot("object") isKindOf(Map), parts = object values)
        parts foreach(value, if(isObject(getSlot("value")), references append(nameOf call(getSlot("value")))))
        protos := getSlot("object") protos map(each, nameOf call(getSlot("each")))
        slots := getSlot("object") slotNames sort
        Map with("slots", slots, "methods", methods, "references", references, "protos", protos)
    )

    values := list(Number, Sequence, Block, CFunction, nil, true, false)

    // Whether it is more than a value.
    isObject := method(value, values select(each, getSlot("value") isKindOf(getSlot("each"))) isEmpty)

    // What was touched, of a survey, in the order of names.
    touchedIn := method(survey,
        survey keys sort map(name, survey at(name) clone atPut("name", name)) select(at("isTouched", true))
    )

    // The methods that a change made or changed: Maps with name, before (or nil) and after.
    changedMethods := method(case,
        found := list()
        before := partOf(case, "before")
        touchedIn(partOf(case, "after")) foreach(object,
            old := before at(object at("name"), Map clone) at("methods", Map clone)
            object at("methods") foreach(slot, source,
                if(source != old at(slot),
                    name := object at("name") .. " " .. slot
                    found append(Map with("name", name, "before", old at(slot), "after", source))
                )
            )
        )
        found sortBy(block(a, b, a at("name") < b at("name")))
    )
)

// Regression: the tests of the image.

Verification do(
    testCases := method(
        found := Map clone
        Lobby slotNamesOfKind(UnitTest) foreach(name,
            if(Lobby getSlot(name) isActivatable not, found atPut(name, Lobby getSlot(name)))
        )
        found
    )

    //doc Verification testNames Returns a sorted list of the tests of all UnitTests in the Lobby, such as "CounterTest testStart".
    testNames := method(
        found := list()
        testCases foreach(name, case,
            case slotNames foreach(slot,
                if(isTest(slot) and(case getSlot(slot) isActivatable), found append(name .. " " .. slot))
            )
        )
        found sort
    )

    isTest := method(slot, slot beginsWithSeq("test"))

    //doc Verification runTest(name) Runs one test, with setUp and tearDown; raises an exception if it fails.
    runTest := method(name,
        case := Lobby getSlot(name beforeSeq(" "))
        slot := name afterSeq(" ")
        if(slot isNil or(getSlot("case") isNil) or(getSlot("case") hasLocalSlot(slot) not),
            Exception raise("there is no test \"" .. name .. "\"")
        )
        case setUp
        case perform(slot)
        case tearDown
        self
    )

    //doc Verification testSources Returns a Map with the source of each slot of the UnitTests in the Lobby, by names such as "CounterTest setUp". What they inherit below UnitTest is theirs; what setUp sets is left out.
    testSources := method(
        found := Map clone
        testCases foreach(name, case,
            ready := slotsSetBy(case getSlot("setUp") message)
            holders := case ancestors select(each, UnitTest isKindOf(getSlot("each")) not)
            holders reverse foreach(holder, holder foreachSlot(slot, value,
                if(slot == "type" or(ready contains(slot)), continue)
                found atPut(name .. " " .. slot, sourceOfValue(getSlot("value")))
            ))
        )
        found
    )

    // The slots of self that a body sets whatever happens.
    slotsSetBy := method(body,
        found := list()
        while(body,
            next := body next
            if(body name == "self" and(next) and(next name == "setSlot"), found append(next argAt(0) cachedResult))
            body = next
        )
        found
    )

    // Code that does not do what it says is no source: whoever compared that would take it for what it was.
    sourceOfValue := method(value,
        if(getSlot("value") isKindOf(Block),
            return if(getSlot("value") isAsWritten, getSlot("value") code, "method(doesOtherThanItSays)")
        )
        if(isObject(getSlot("value")), getSlot("value") type, getSlot("value") asJson)
    )

    // How the runs of a test ended: "passed", "failed", "flaky" or "unsure"; nil if there are none.
    outcomeOf := method(runs,
        if(runs isNil, return nil)
        kinds := if(runs isKindOf(List), runs, list(runs)) map(beforeSeq(":"))
        if(kinds isEmpty or(kinds detect(each, list("passed", "failed") contains(each) not)), return "unsure")
        if(kinds detect(each, each != kinds first), "flaky", kinds first)
    )

    //doc Verification compareTests(case) Returns a Map from names of tests to "passing", "newly passing", "failing", "newly failing", "flaky", "missing" or "unsure".
    compareTests := method(case,
        before := partOf(case, "testsBefore")
        after := partOf(case, "testsAfter")
        kinds := Map clone
        before keys appendSeq(after keys) foreach(name,
            kinds atPut(name, compareOutcomes(outcomeOf(before at(name)), outcomeOf(after at(name))))
        )
        kinds
    )

    compareOutcomes := method(before, after,
        if(after isNil, return "missing")
        if(after == "passed", return if(before == "passed", "passing", "newly passing"))
        if(after == "failed", return if(before == "failed", "failing", "newly failing"))
        after
    )

    //doc Verification weakening(before, after) Returns why a test that was changed from one source to the other proves less than it did; or nil if it does not. Only what is added behind all else cannot weaken it.
    weakening := method(before, after,
        old := bodyOf(before)
        new := bodyOf(after)
        if(old isNil, return nil)
        if(new isNil, return "was emptied")
        assertions := assertionsOf(new)
        count := assertionsOf(old) size
        if(assertions size < count, return "has fewer assertions: " .. assertions size .. ", where it had " .. count)
        lost := assertionsOf(old) detect(each, assertions contains(each) not)
        if(lost, return "does not assert any more: " .. lost)
        statements := statementsOf(old)
        if(headOf(before) == headOf(after) and(statementsOf(new) slice(0, statements size) == statements), return nil)
        "was changed otherwise than by adding to its end"
    )

    // Pairs of name and reason.
    weakened := method(case,
        found := list()
        before := partOf(case, "testSources") at("before")
        after := partOf(case, "testSources") at("after")
        before keys sort foreach(name,
            if(before at(name) == after at(name), continue)
            reason := "was changed, and tests rest on it"
            if(isTest(name afterSeq(" ")),
                // That a test went is known from its runs.
                reason = if(after hasKey(name), weakening(before at(name), after at(name)), nil)
            )
            if(reason, found append(list(name, reason)))
        )
        cases := before keys map(beforeSeq(" "))
        after keys sort foreach(name,
            slot := name afterSeq(" ")
            if(before hasKey(name) or(cases contains(name beforeSeq(" ")) not) or(isTest(slot)), continue)
            if(UnitTest hasSlot(slot), found append(list(name, "takes the place of what all test cases share")))
        )
        found
    )

    checks append(Check clone do(
        name := "regression"

        reasons := Map with(
            "newly failing", "fails, and did not before",
            "missing", "was removed",
            "flaky", "unsure: passes in one run and fails in another",
            "unsure", "unsure"
        )

        judge := method(case, verification,
            kinds := verification compareTests(case)
            names := kinds keys sort select(name, reasons hasKey(kinds at(name)))
            found := names map(name, finding(reasonOf(kinds at(name), case at("testsAfter") at(name)), name))
            found appendSeq(verification weakened(case) map(each, finding("is weakened: " .. each last, each first)))
        )

        reasonOf := method(kind, runs,
            told := if(runs isKindOf(List), runs detect(each, each != "passed"), runs)
            reason := reasons at(kind)
            if(told isNil or(kind == "flaky"), reason, reason .. ": " .. told afterSeq(": ") ifNilEval(told))
        )
    ))
)

// Safety: what no change may do.

Verification do(
    //metadoc SafetyRule description What no change may do. Verification SafetyRule is the prototype.
    SafetyRule := Object clone do(
        //doc SafetyRule name Names the rule.
        name := "rule"

        //doc SafetyRule reason Why a change that breaks the rule is refused.
        reason := "breaks a rule"

        //doc SafetyRule isBrokenBy(change, case) Returns true if the change breaks the rule.
        isBrokenBy := method(change, case, false)

        //doc SafetyRule subjects(case) Returns a list of what isBrokenBy is asked about: the changes of the journal, unless the rule says otherwise.
        subjects := method(case, Verification partOf(case, "journal"))

        //doc SafetyRule placeOf(change) Returns where it is, for people.
        placeOf := method(change,
            object := change at("object_name", change at("object_id", ""))
            slot := change at("slot_name")
            if(slot isNil, object, object .. " " .. slot)
        )

        //doc SafetyRule breaches(case) Returns a list of list(reason, place), one for each change that breaks the rule.
        breaches := method(case,
            subjects(case) select(each, isBrokenBy(each, case)) map(each, list(reason, placeOf(each)))
        )

        // The names of the slots that a change sets.
        slotsOf := method(change,
            if(change hasKey("slot_name"), return list(change at("slot_name")))
            if(change at("operation") == "PROTOTYPE_CLONE", change at("value") at("slots", list()) map(first), list())
        )
    )

    safetyRules append(
        SafetyRule clone do(
            name := "operations"
            reason := "this operation is not allowed"
            allowed := list(
                "PROTOTYPE_CLONE", "SLOT_ADD", "SLOT_SET", "SLOT_REMOVE", "PROTOS_SET", "DATA_SET", "FLAGS_SET",
                "MAP_PUT", "MAP_REMOVE", "LIST_INSERT", "LIST_DELETE", "LIST_MOVE", "LIST_SET", "SEQUENCE_INSERT",
                "SEQUENCE_DELETE", "SEQUENCE_MOVE", "COUNTER_ADD", "MEMBER_ADD", "MEMBER_REMOVE", "FFI_CALL"
            )
            isBrokenBy := method(change, case, allowed contains(change at("operation")) not)
        ),
        SafetyRule clone do(
            name := "reflection"
            reason := "what an object says of itself must be true, so no object may answer this in its own way"
            forbidden := list(
                "foreachSlot", "getLocalSlot", "getSlot", "hasLocalSlot", "hasProto", "hasSlot", "isActivatable",
                "isIdenticalTo", "isKindOf", "perform", "proto", "protos", "slotNames", "uniqueId"
            )
            isBrokenBy := method(change, case, slotsOf(change) detect(slot, forbidden contains(slot)) isNil not)
        ),
        SafetyRule clone do(
            name := "capabilities"
            reason := "this was asked of the world outside, and was not granted"
            subjects := method(case, Verification partOf(case, "calls"))
            placeOf := method(asked, asked at("call", ""))
            // "Http" grants all of "Http.request".
            isBrokenBy := method(asked, case,
                grants := Verification partOf(case, "rules") at("grants", list())
                grants detect(grant, grant == placeOf(asked) or(placeOf(asked) beginsWithSeq(grant .. "."))) isNil
            )
        ),
        SafetyRule clone do(
            name := "protection"
            reason := "this is protected, and changes only with a person's token"
            isBrokenBy := method(change, case, change at("isProtected", false))
        ),
        SafetyRule clone do(
            name := "names of Core"
            reason := "a name of Core in the Lobby would hide it from all code"
            isBrokenBy := method(change, case,
                change at("object_name") == "Lobby" and(change at("operation") beginsWithSeq("SLOT")) and(
                    slotsOf(change) detect(slot, Protos Core hasLocalSlot(slot)) isNil not
                )
            )
        ),
        SafetyRule clone do(
            name := "size"
            reason := "the change is larger than can be looked at"
            //doc SafetyRule maxima How much of each size in a case is allowed, of the rule "size".
            maxima := Map with("changes", 10000, "objects", 5000, "bytes", 16777216)
            subjects := method(case,
                sizes := Verification partOf(case, "sizes")
                sizes keys sort map(name, Map with("name", name, "size", sizes at(name)))
            )
            placeOf := method(measured, measured at("size") asString .. " " .. measured at("name"))
            isBrokenBy := method(measured, case,
                maxima hasKey(measured at("name")) and(measured at("size") > maxima at(measured at("name")))
            )
        ),
        SafetyRule clone do(
            name := "attempts"
            reason := "this was tried, and refused by the sandbox"
            subjects := method(case, Verification partOf(case, "refusals"))
            placeOf := method(refusal, refusal asString)
            isBrokenBy := method(refusal, case, true)
        )
    )

    checks append(Check clone do(
        name := "safety"
        judge := method(case, verification,
            verification safetyRules map(rule,
                rule breaches(case) map(breach, finding(breach first, breach last))
            ) flatten
        )
    ))
)

// Purity: rules of architecture, each from a decision record.

Verification do(
    //metadoc PurityRule description A rule of architecture, from a decision record. Verification PurityRule is the prototype.
    PurityRule := SafetyRule clone do(
        //doc PurityRule decision The number and title of the decision record.
        decision := ""

        //doc PurityRule accepts A list of sources of objects that keep to the rule.
        accepts := list()

        //doc PurityRule refuses A list of sources of objects that break it.
        refuses := list()

        //doc PurityRule subjects(case) Returns the objects that were touched, as Maps: those of the case's survey, with their names.
        subjects := method(case, Verification touchedIn(Verification partOf(case, "after")))

        placeOf := method(object, object at("name"))

        //doc PurityRule wrongExamples Returns a list of the examples that it judges wrongly.
        wrongExamples := method(
            wrong := accepts select(source, isBrokenByExample(source))
            wrong appendSeq(refuses select(source, isBrokenByExample(source) not))
        )

        isBrokenByExample := method(source,
            context := Object clone
            context doString(source)
            objects := Map clone
            context foreachSlot(name, value,
                if(Verification isObject(getSlot("value")), objects atPut(name, getSlot("value")))
            )
            breaches(Map with("before", Map clone, "after", Verification survey(objects))) isEmpty not
        )

        // What the objects were before, of a part of a survey.
        before := method(case, name, part, default,
            Verification partOf(case, "before") at(name, Map clone) at(part, default)
        )
    )

    purityRules append(
        PurityRule clone do(
            name := "no copied methods"
            decision := "0001: Prototypes all the way"
            reason := "which is not its proto; what both share belongs in a proto of both"
            accepts := list(
                "Animal := Object clone do(eat := method(1); sleep := method(2); walk := method(3)); Dog := Animal clone; Cat := Animal clone",
                "Dog := Object clone do(eat := method(1); sleep := method(2)); Cat := Object clone do(eat := method(1); sleep := method(2))"
            )
            refuses := list(
                "Dog := Object clone do(eat := method(1); sleep := method(2); walk := method(3)); Cat := Object clone do(eat := method(1); sleep := method(2); walk := method(3))"
            )
            //doc PurityRule copiesMax How many methods two objects may have the same, of the rule "no copied methods".
            copiesMax := 2

            breaches := method(case,
                after := Verification partOf(case, "after")
                was := copies(Verification partOf(case, "before"))
                found := copies(after)
                pairs := found keys sort select(pair,
                    found at(pair) size > copiesMax and(found at(pair) size > was at(pair, list()) size)
                )
                pairs map(pair, list(
                    "has the methods " .. found at(pair) sort join(", ") .. " of " .. pair afterSeq("\n") .. ", " .. reason,
                    pair beforeSeq("\n")
                ))
            )

            // The slots whose methods two objects have the same, by the names of both.
            copies := method(survey,
                holders := Map clone
                survey keys sort foreach(name,
                    methods := survey at(name) at("methods")
                    if(methods size <= copiesMax, continue)
                    methods foreach(slot, source,
                        holders atIfAbsentPut(slot .. "\n" .. source, list()) append(name)
                    )
                )
                found := Map clone
                holders foreach(key, names,
                    names foreach(index, one, names slice(index + 1) foreach(other,
                        if(areRelated(survey, one, other) not,
                            found atIfAbsentPut(one .. "\n" .. other, list()) append(key beforeSeq("\n"))
                        )
                    ))
                )
                found
            )

            areRelated := method(survey, one, other,
                survey at(one) at("protos") contains(other) or(survey at(other) at("protos") contains(one))
            )
        ),
        PurityRule clone do(
            name := "no copying factories"
            decision := "0001: Prototypes all the way"
            reason := "makes objects by copying slots, where a clone would have them from its proto"
            accepts := list(
                "Point := Object clone do(at := method(x, y, point := self clone; point x := x; point y := y; point))",
                "Shelf := Object clone do(describe := method(self foreachSlot(name, value, name println)))"
            )
            refuses := list(
                "Point := Object clone do(new := method(made := Object clone; self foreachSlot(name, value, made setSlot(name, getSlot(\"value\"))); made))",
                "Point := Object clone do(new := method(made := Object clone; self slotNames foreach(name, made setSlot(name, self getSlot(name))); made))"
            )
            subjects := method(case, Verification changedMethods(case))
            isBrokenBy := method(changed, case,
                names := Verification messagesOf(Verification bodyOf(changed at("after"))) map(name)
                names containsAny(list("foreachSlot", "slotNames")) and(
                    names containsAny(list("setSlot", "setSlotWithType", "newSlot", "updateSlot"))
                )
            )
        ),
        PurityRule clone do(
            name := "no classes"
            decision := "0001: Prototypes all the way"
            reason := "has a slot by which a class is known: an object has protos, and nothing beside them"
            accepts := list("Lesson := Object clone do(teacher := \"Ada\"; classroom := 5)")
            refuses := list(
                "Lesson := Object clone do(class := Object clone)",
                "Lesson := Object clone do(instanceOf := method(other, true))"
            )
            words := list("class", "superclass", "subclass", "metaclass", "instanceOf", "isInstanceOf")
            isBrokenBy := method(object, case,
                old := before(case, object at("name"), "slots", list())
                object at("slots") detect(slot, words contains(slot) and(old contains(slot) not)) isNil not
            )
        )
    )

    checks append(Check clone do(
        name := "purity"
        judge := method(case, verification,
            verification purityRules map(rule,
                source := " (decision " .. rule decision .. ")"
                rule breaches(case) map(breach, finding(breach first .. source, breach last))
            ) flatten
        )
    ))
)

// Purpose: the Composite Entropy Metric.

Verification do(
    //doc Verification metric(case) Returns a Map with before and after: Maps with cog, sol, struc and rel, each from 0 to 1, and cem, their weighted sum.
    metric := method(case,
        archive := partOf(case, "archive")
        bodies := archive slice((archive size - archiveMax) max(0)) map(source, bodyOf(source)) select(isNil not)
        changed := changedMethods(case)
        Map with(
            "before", terms(case, "before", "testsBefore", changed, bodies),
            "after", terms(case, "after", "testsAfter", changed, bodies)
        )
    )

    terms := method(case, when, tests, changed, bodies,
        objects := touchedIn(partOf(case, when))
        found := Map with(
            "cog", messageEntropy(objects),
            "sol", novelty(changed map(at(when)), bodies),
            "struc", complexity(objects),
            "rel", relevance(case, partOf(case, tests))
        )
        sum := 0
        weights foreach(term, weight, sum = sum + (weight * found at(term)))
        found atPut("cem", sum)
    )

    //doc Verification messageEntropy(objects) Returns the Shannon entropy of the messages in the methods of surveyed objects, divided by the most that as many different messages can have.
    messageEntropy := method(objects,
        counts := Map clone
        total := 0
        objects foreach(object, object at("methods") foreach(slot, source,
            messagesOf(bodyOf(source)) foreach(each,
                if(each hasCachedResult, continue)
                counts atPut(each name, counts at(each name, 0) + 1)
                total = total + 1
            )
        ))
        if(counts size < 2, return 0)
        bits := 0
        counts values sort foreach(count, bits = bits - (count / total * (count / total) log2))
        bits / counts size log2
    )

    //doc Verification novelty(sources, bodies) Returns how far methods are, on average, from the nearest of the bodies in the archive; 1 if that is empty. What is nil counts 0.
    novelty := method(sources, bodies,
        if(sources isEmpty, return 0)
        sum := 0
        sources foreach(source,
            body := if(source isNil, nil, bodyOf(source))
            if(body, sum = sum + bodies map(each, body distanceTo(each)) min ifNilEval(1))
        )
        sum / sources size
    )

    //doc Verification complexity(objects) Returns the structural complexity of surveyed objects: references / (references + objects), where those that they refer to are counted too.
    complexity := method(objects,
        seen := Map clone
        references := 0
        objects foreach(object,
            ends := Map clone
            list("references", "protos") foreach(part, object at(part) foreach(name, ends atPut(name, true)))
            references = references + ends size
            seen mergeInPlace(ends) atPut(object at("name"), true)
        )
        if(references == 0, 0, references / (references + seen size))
    )

    //doc Verification relevance(case, tests) Returns the share of the image's and the mandate's tests that passed; 1 if there are none. Tests that the change itself brought do not count.
    relevance := method(case, tests,
        names := partOf(case, "testsBefore") keys appendSeq(case at("mandateTests", list())) unique
        if(names isEmpty, 1, names select(name, outcomeOf(tests at(name)) == "passed") size / names size)
    )

    checks append(Check clone do(
        name := "purpose"

        judge := method(case, verification,
            metric := verification metric(case)
            before := metric at("before")
            after := metric at("after")
            fall := before at("cem") - after at("cem")
            // Sums of fractions are not exact.
            if(fall <= verification tolerance + 0.000000001 or(after at("rel") > before at("rel")), return list())
            terms := list("cem", "cog", "sol", "struc", "rel") map(term,
                term .. " " .. before at(term) asString(0, 3) .. " → " .. after at(term) asString(0, 3)
            )
            list(finding("the metric falls without a gain in relevance: " .. terms join(", ")))
        )
    ))
)
