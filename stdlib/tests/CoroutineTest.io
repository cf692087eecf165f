CoroutineTest := UnitTest clone do(
    testYieldWithoutOthersReturns := method(
        yield
        assertTrue(Coroutine currentCoroutine isCurrent)
    )

    testCoroDoRunsAtOnce := method(
        seen := List clone
        coroDo(seen append("child"))
        seen append("parent")
        assertEquals(list("child", "parent"), seen)
    )

    testCoroDoLaterRunsAtTheNextYield := method(
        worker := Object clone do(seen := List clone)
        worker coroDoLater(seen append("child"))
        worker seen append("parent")
        yield
        assertEquals(list("parent", "child"), worker seen)
    )

    testCoroDoSeesTheSendersLocals := method(
        x := 1
        coroDo(x = x + 1)
        assertEquals(2, x)
    )

    testTwoCoroutinesTakeTurns := method(
        seen := List clone
        coroDo(3 repeat(i, seen append("a" .. i); yield))
        coroDo(3 repeat(i, seen append("b" .. i); yield))
        10 repeat(yield)
        assertEquals(6, seen size)
        assertEquals(list("a0", "a1", "a2"), seen select(beginsWithSeq("a")))
        assertEquals(list("b0", "b1", "b2"), seen select(beginsWithSeq("b")))
        assertNotEquals(list("a0", "a1", "a2"), seen slice(0, 3))
    )

    testYieldAfterAFinishedChildRunsTheNext := method(
        // A finished coroDo must not leave its starter in the queue: the next yield would do nothing.
        worker := Object clone do(seen := List clone)
        coroDo(worker seen append("now"))
        worker coroDoLater(seen append("later"))
        yield
        assertEquals(list("now", "later"), worker seen)
    )

    testPauseAndResumeLater := method(
        seen := List clone
        sleeper := coroDo(seen append("before"); pause; seen append("after"))
        yield
        assertEquals(list("before"), seen)
        sleeper resumeLater
        yield
        assertEquals(list("before", "after"), seen)
    )

    testCoroutineResultAndState := method(
        worker := coroFor(6 * 7)
        assertFalse(worker isFinished)
        worker run
        assertTrue(worker isFinished)
        assertEquals(42, worker result)
    )

    testExceptionInACoroutineIsCaughtInside := method(
        seen := nil
        coroDo(seen = try(Exception raise("inside")) error)
        assertEquals("inside", seen)
    )

    testTryAroundAYieldCatchesOnlyItsOwn := method(
        seen := List clone
        coroDo(raised := try(yield; Exception raise("mine")); seen append(raised error))
        other := try(yield; yield; Exception raise("yours"))
        assertEquals(list("mine"), seen)
        assertEquals("yours", other error)
    )

    testIsYielding := method(
        worker := Object clone coroDoLater(nil)
        assertTrue(worker isYielding)
        yield
        assertFalse(worker isYielding)
    )

    testManyCoroutinesComplete := method(
        counter := Object clone do(
            count := 0
            step := method(count = count + 1)
        )
        500 repeat(counter coroDoLater(step; yield; step))
        Scheduler waitForCorosToComplete
        assertEquals(1000, counter count)
    )

    testWaitLastsAtLeastItsTime := method(
        start := Date clone now asNumber
        wait(0.02)
        assertTrue(Date clone now asNumber - start >= 0.019)
        assertTrue(Scheduler timers isEmpty)
    )

    testTimersWakeInOrderOfTime := method(
        seen := List clone
        coroDo(wait(0.04); seen append("second"))
        coroDo(wait(0.01); seen append("first"))
        wait(0.08)
        assertEquals(list("first", "second"), seen)
    )

    testTimersAreSorted := method(
        old := Scheduler timers
        Scheduler setTimers(List clone)
        coroutines := list(3, 1, 2) map(n, Coroutine clone)
        list(3, 1, 2) foreach(i, time, Scheduler addTimerAt(time, coroutines at(i)))
        assertEquals(list(1, 2, 3), Scheduler timers map(first))
        Scheduler addTimerAt(9, coroutines at(1))
        assertEquals(list(2, 3, 9), Scheduler timers map(first))
        Scheduler removeTimerFor(coroutines at(0))
        assertEquals(list(2, 9), Scheduler timers map(first))
        Scheduler setTimers(old)
    )

    testPauseWithNothingElseRaises := method(
        assertRaisesException(Coroutine currentCoroutine pause)
    )
)
