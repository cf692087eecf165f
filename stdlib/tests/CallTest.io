CallTest := UnitTest clone do(
    testEvalArgsRunsInTheSender := method(
        collect := method(call evalArgs)
        x := 3
        assertEquals(list(3, 4), collect(x, x + 1))
    )

    testHasArgsAndArgCount := method(
        count := method(if(call hasArgs, call argCount, "none"))
        assertEquals("none", count)
        assertEquals(2, count(a, b))
    )

    testDelegateToSendsTheSameMessage := method(
        target := Object clone do(add := method(x, y, x + y))
        proxy := Object clone
        proxy target := target
        proxy forward := method(call delegateTo(target))
        n := 5
        assertEquals(8, proxy add(n, 3))
    )

    testDelegateToLeavesTheRestOfTheChain := method(
        proxy := Object clone
        proxy forward := method(call delegateTo("hello"))
        assertEquals("OLLEH", proxy reverse asUppercase)
    )

    testDelegateToMethod := method(
        o := Object clone do(
            twice := method(x, x * 2)
            double := method(call delegateToMethod(self, "twice"))
        )
        assertEquals(8, o double(4))
    )

    testRelayStopStatusPassesBreakOn := method(
        evaluate := method(call relayStopStatus(call evalArgAt(0)))
        seen := List clone
        list(1, 2, 3) foreach(n, evaluate(if(n == 2, break)); seen append(n))
        assertEquals(list(1), seen)
    )

    testPassStopsLetsReturnThrough := method(
        evaluate := method(call evalArgAt(0)) setPassStops(true)
        f := method(evaluate(return "early"); "late")
        assertEquals("early", f)
    )

    testDescriptionNamesTypeAndMessage := method(
        Greeter := Object clone do(greet := method(call description))
        assertTrue(Greeter greet beginsWithSeq("Greeter greet "))
    )

    testMessageUnion := method(
        united := message(a) union(b(c, d))
        assertEquals(3, united argCount)
        assertEquals("a", united argAt(0) name)
        assertEquals("d", united argAt(2) name)
    )

    testMessageAsSimpleStringIsShort := method(
        long := Message fromString("abcdefghij(klmnopqrst, uvwxyzabcd, efghijklmn, opqrst)")
        assertEquals(40, long asSimpleString size)
        assertTrue(long asSimpleString endsWithSeq("..."))
    )

    testBlockAsSimpleString := method(
        assertEquals("block(a, b, ...)", block(a, b, a) asSimpleString)
        b := block(a, b, a)
        getSlot("b") asSimpleString
        assertEquals(list("a", "b"), getSlot("b") argumentNames)
    )

    testCallWithArgList := method(
        assertEquals(6, block(a, b, c, a + b + c) callWithArgList(list(1, 2, 3)))
    )

    testBlockAsStringParsesToTheSameCode := method(
        original := method(a, b,
            sum := a + b * 2
            if(sum > 3,
                "big"
            ,
                list(sum, "small")
            )
        )
        again := doString(getSlot("original") asString)
        assertEquals(getSlot("original") call(1, 2), getSlot("again") call(1, 2))
        assertEquals(getSlot("original") code, getSlot("again") code)
    )
)
