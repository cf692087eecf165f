ExceptionTest := UnitTest clone do(
    testTryReturnsNilOrTheException := method(
        assertNil(try(1 + 1))
        assertEquals("broken", try(Exception raise("broken")) error)
    )

    testRaiseEndsTheEvaluation := method(
        seen := List clone
        try(seen append(1); Exception raise("stop"); seen append(2))
        assertEquals(list(1), seen)
    )

    testRaiseThroughSeveralCalls := method(
        inner := method(Exception raise("deep"))
        middle := method(inner; "not reached")
        assertEquals("deep", try(middle) error)
    )

    testUnknownMessageIsAnException := method(
        raised := try(1 noSuchMessage)
        assertEquals("Number does not respond to 'noSuchMessage'", raised error)
        assertTrue(raised isKindOf(Exception))
    )

    testCatchByKind := method(
        Refused := Exception clone
        Lost := Exception clone
        caught := nil
        raised := try(Refused raise("no"))
        raised catch(Lost, caught = "lost") catch(Refused, caught = "refused") catch(Exception, caught = "any")
        assertEquals("refused", caught)
    )

    testCatchReturnsNilOrTheException := method(
        Other := Exception clone
        raised := try(Exception raise("x"))
        assertNil(raised catch(Exception, 1))
        assertSame(raised, raised catch(Other, 1))
        assertNil(nil catch(Exception, 1))
    )

    testPassRaisesAgain := method(
        raised := try(
            first := try(Exception raise("again"))
            first pass
        )
        assertSame(first, raised)
        assertNil(nil pass)
    )

    testUncaughtKindPassesOn := method(
        Special := Exception clone
        raised := try(
            try(Exception raise("plain")) catch(Special, nil) pass
        )
        assertEquals("plain", raised error)
    )

    testNestedTry := method(
        inner := nil
        outer := try(
            inner = try(Exception raise("one"))
            Exception raise("two")
        )
        assertEquals("one", inner error)
        assertEquals("two", outer error)
    )

    testExceptionInACatchBody := method(
        raised := try(
            try(Exception raise("first")) catch(Exception, Exception raise("second"))
        )
        assertEquals("second", raised error)
    )

    testNestedExceptionIsKept := method(
        cause := try(Exception raise("cause"))
        raised := try(Exception raise("effect", cause))
        assertSame(cause, raised nestedException)
    )

    testRaiseClonesTheReceiver := method(
        Failure := Exception clone
        first := try(Failure raise("one"))
        second := try(Failure raise("two"))
        assertEquals("one", first error)
        assertEquals("two", second error)
        assertNil(Failure error)
        assertEquals("Failure", first type)
    )

    testCustomSlotsOfAnException := method(
        HttpError := Exception clone do(status ::= 0)
        raised := try(HttpError clone setStatus(404) raise("not found"))
        assertEquals(404, raised status)
    )

    testExceptionKnowsItsCoroutine := method(
        assertNotNil(try(Exception raise("x")) coroutine)
    )

    testBackTraceNamesErrorAndCalls := method(
        Machine := Object clone do(start := method(Exception raise("no fuel")))
        trace := try(Machine start) backTraceString
        assertTrue(trace containsSeq("Exception: no fuel"))
        assertTrue(trace containsSeq("Machine start"))
        assertTrue(trace containsSeq("ExceptionTest.io"))
    )

    testReturnInsideTryEndsOnlyTheTry := method(
        f := method(try(return 1); 2)
        assertEquals(2, f)
    )

    testTryInALoop := method(
        failures := 0
        1000 repeat(if(try(Exception raise("x")), failures = failures + 1))
        assertEquals(1000, failures)
    )

    testSignalIsAnsweredByTheHandler := method(
        answer := withHandler(Exception, block(e, resume, resume invoke(e error size)),
            10 + Exception signal("four")
        )
        assertEquals(14, answer)
    )

    testSignalWithoutHandlerRaises := method(
        assertEquals("alone", try(Exception signal("alone")) error)
    )

    testSignalPicksTheMatchingHandler := method(
        Low := Exception clone
        High := Exception clone
        answer := withHandler(Low, block(e, resume, "low"),
            withHandler(High, block(e, resume, "high"), Low signal("which?"))
        )
        assertEquals("low", answer)
    )

    testHandlerIsGoneAfterItsBody := method(
        withHandler(Exception, block(e, resume, 1), nil)
        assertNotNil(try(Exception signal("late")))
    )

    testHandlerIsGoneAfterAnException := method(
        try(withHandler(Exception, block(e, resume, 1), Exception raise("out")))
        assertNotNil(try(Exception signal("late")))
    )

    testErrorValues := method(
        failed := Error with("bad input")
        assertTrue(failed isError)
        assertFalse(1 isError)
        assertEquals("bad input", failed message)
        seen := nil
        failed ifError(problem, seen = problem message)
        assertEquals("bad input", seen)
        assertEquals(1, 1 ifError(seen = "wrong"))
        assertEquals("bad input", seen)
    )

    testReturnIfError := method(
        f := method(value, value returnIfError; "went on")
        assertEquals("went on", f(1))
        assertTrue(f(Error with("x")) isError)
    )

    testRaiseIfError := method(
        assertRaisesException(Error with("x") raiseIfError)
        assertEquals(1, 1 raiseIfError)
    )
)
