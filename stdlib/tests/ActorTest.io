ActorTest := UnitTest clone do(
    setUp := method(
        self worker := Object clone do(
            log := list()
            note := method(text, log append(text); log size)
            double := method(n, n * 2)
            fail := method(Exception raise("no"))
            handleActorException := method(raised, log append("handled " .. raised error))
        )
        worker log = List clone
    )

    testFutureBecomesItsResult := method(
        future := worker @double(21)
        assertEquals("FutureProxy", future type)
        assertEquals(43, future + 1)
        assertEquals(42, future)
    )

    testFutureChainContinues := method(
        assertEquals("42", (worker @double(21)) asString)
        future := worker @double(21)
        assertEquals(2, future asString size)
    )

    testAsyncSendReturnsNil := method(
        assertNil(worker @@note("a"))
        assertEquals(list(), worker log)
        yield
        assertEquals(list("a"), worker log)
    )

    testMessagesAreHandledInOrder := method(
        worker @@note("a")
        worker @@note("b")
        last := worker @note("c")
        assertEquals(3, last + 0)
        assertEquals(list("a", "b", "c"), worker log)
    )

    testArgumentsAreEvaluatedAtOnce := method(
        text := "before"
        worker @@note(text)
        text = "after"
        yield
        assertEquals(list("before"), worker log)
    )

    testActorWorksAgainAfterAPause := method(
        assertEquals(2, worker @double(1) + 0)
        assertEquals(4, worker @double(2) + 0)
    )

    testSeveralWaitersGetTheResult := method(
        seen := List clone
        future := worker @double(5)
        coroDo(seen append(future + 1))
        coroDo(seen append(future + 2))
        assertEquals(10, future + 0)
        yield
        yield
        assertEquals(list(11, 12), seen sort)
    )

    testExceptionReachesTheHandlerAndTheWaiter := method(
        future := worker @fail
        raised := try(future + 1)
        assertEquals("no", raised error)
        assertEquals(list("handled no"), worker log)
    )

    testActorSurvivesAnException := method(
        worker @@fail
        assertEquals(6, worker @double(3) + 0)
    )

    testNilAndFalseAreResults := method(
        worker nothing := method(nil)
        worker no := method(false)
        assertTrue((worker @nothing) isNil)
        assertFalse((worker @no) isTrue)
    )

    testTwoActorsWorkForEachOther := method(
        other := Object clone
        other helper := worker
        other quadruple := method(n, helper @double(helper @double(n) + 0) + 0)
        assertEquals(12, other @quadruple(3) + 0)
    )

    testNotifier := method(
        notifier := Notifier clone addListener(worker)
        notifier notifyListeners(note("event"))
        notifier notifyListeners(unknownEvent)
        assertEquals(list("event"), worker log)
        notifier removeListener(worker)
        notifier notifyListeners(note("event"))
        assertEquals(1, worker log size)
    )
)
