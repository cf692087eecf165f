ObjectTest := UnitTest clone do(
    testBooleansCombine := method(
        assertTrue(true and(1))
        assertFalse(true and(nil))
        assertFalse(nil and(true))
        assertTrue(nil or(2))
        assertFalse(false or(nil))
        assertTrue(5 or(nil))
    )

    testNot := method(
        assertTrue(nil not)
        assertTrue(false not)
        assertFalse(true not)
        assertNil(5 not)
    )

    testIfThenElseChain := method(
        pick := method(n,
            if(n == 1) then(return "one") elseif(n == 2) then(return "two") else(return "many")
        )
        assertEquals("one", pick(1))
        assertEquals("two", pick(2))
        assertEquals("many", pick(3))
    )

    testIfTrueAndIfFalseReturnTheReceiver := method(
        seen := List clone
        assertTrue(true ifTrue(seen append("t")) ifFalse(seen append("f")))
        assertFalse(false ifTrue(seen append("t")) ifFalse(seen append("f")))
        assertEquals(list("t", "f"), seen)
    )

    testIfNilFamily := method(
        assertNil(nil ifNil(1))
        assertEquals(1, nil ifNilEval(1))
        assertEquals(5, 5 ifNilEval(1))
        assertEquals(2, 5 ifNonNilEval(2))
        assertNil(nil ifNonNilEval(2))
        assertEquals(5, 5 ifNonNil(2))
    )

    testSingletonsCloneToThemselves := method(
        assertSame(nil, nil clone)
        assertSame(true, true clone)
        assertSame(false, false clone)
    )

    testHasSlotSeesAncestors := method(
        parent := Object clone do(inherited := nil)
        child := parent clone
        assertTrue(child hasSlot("inherited"))
        assertFalse(child hasLocalSlot("inherited"))
        assertFalse(child hasSlot("nowhere"))
    )

    testNewSlotAddsASetterThatReturnsItsReceiver := method(
        o := Object clone
        assertEquals(1, o newSlot("size", 1))
        assertSame(o, o setSize(7))
        assertEquals(7, o size)
    )

    testSetterOfACloneLeavesTheProtoAlone := method(
        parent := Object clone do(name ::= "parent")
        child := parent clone setName("child")
        assertEquals("parent", parent name)
        assertEquals("child", child name)
    )

    testNewSlotKeepsBlocksUnactivated := method(
        o := Object clone
        o newSlot("action", block(13))
        assertEquals(13, o action call)
    )

    testLazySlotEvaluatesOnce := method(
        o := Object clone
        o count := 0
        o value := o lazySlot(count = count + 1; "ready")
        assertEquals("ready", o value)
        assertEquals("ready", o value)
        assertEquals(1, o count)
    )

    testLazySlotOfAProtoIsKeptPerClone := method(
        parent := Object clone do(
            seed := 1
            lazySlot("value", seed * 10)
        )
        child := parent clone
        child seed := 2
        assertEquals(20, child value)
        assertEquals(10, parent value)
    )

    testForeachSlotGoesByNameAndDoesNotActivate := method(
        o := Object clone do(b := method(Exception raise("activated")); a := 1)
        names := List clone
        o foreachSlot(name, value, names append(name))
        assertEquals(list("a", "b"), names)
    )

    testForeachSlotObeysReturn := method(
        first := method(o, o foreachSlot(name, value, return name); "none")
        assertEquals("a", first(Object clone do(b := 1; a := 2)))
    )

    testAddTraitCopiesAndRenames := method(
        source := Object clone do(greet := method("hello"); name := "source")
        target := Object clone do(name := "target")
        target addTrait(source, Map with("name", "traitName"))
        assertEquals("hello", target greet)
        assertEquals("target", target name)
        assertEquals("source", target traitName)
    )

    testAddTraitRefusesConflicts := method(
        source := Object clone do(name := "source")
        assertRaisesException(Object clone do(name := 1) addTrait(source))
        assertRaisesException(source addTrait)
    )

    testAncestorsInLookupOrder := method(
        a := Object clone
        b := a clone
        c := Object clone
        b appendProto(c)
        assertEquals(list(b, a) map(uniqueId), b ancestors slice(0, 2) map(uniqueId))
        assertTrue(b ancestors containsIdenticalTo(c))
    )

    testAncestorsOfACycleEnd := method(
        a := Object clone
        b := a clone
        a appendProto(b)
        assertTrue(a ancestors containsIdenticalTo(b))
    )

    testIsKindOf := method(
        a := Object clone
        b := a clone
        assertTrue(b isKindOf(a))
        assertTrue(b isKindOf(b))
        assertFalse(a isKindOf(b))
        assertTrue(1 isKindOf(Number))
        assertTrue("x" isKindOf(Sequence))
    )

    testSuperRunsTheInheritedMethodWithTheSameSelf := method(
        parent := Object clone do(describe := method(prefix, prefix .. name))
        child := parent clone do(
            name := "child"
            describe := method(prefix, super(describe(prefix .. "the ")) .. "!")
        )
        assertEquals("see the child!", child describe("see "))
    )

    testSuperThroughSeveralLevels := method(
        a := Object clone do(trail := method(list("a")))
        b := a clone do(trail := method(super(trail) append("b")))
        c := b clone do(trail := method(super(trail) append("c")))
        assertEquals(list("a", "b", "c"), c trail)
    )

    testResendKeepsTheArguments := method(
        parent := Object clone do(add := method(x, y, x + y))
        child := parent clone do(add := method(x, y, resend * 10))
        assertEquals(30, child add(1, 2))
    )

    testSuperOfAnUnknownNameRaises := method(
        o := Object clone do(go := method(super(noSuchMethodAnywhere)))
        assertRaisesException(o go)
    )

    testQuestionMark := method(
        o := Object clone do(known := method(x, x + 1))
        assertEquals(3, o ?known(2))
        assertNil(o ?unknown(2))
    )

    testSwitch := method(
        name := method(n, n switch(1, "one", 2, "two", "many"))
        assertEquals("one", name(1))
        assertEquals("two", name(2))
        assertEquals("many", name(9))
        assertNil(9 switch(1, "one"))
    )

    testSwitchEvaluatesOnlyTheChosenBranch := method(
        seen := List clone
        2 switch(1, seen append("one"), 2, seen append("two"), seen append("default"))
        assertEquals(list("two"), seen)
    )

    testSwitchObeysReturn := method(
        f := method(n, n switch(1, return "left"); "stayed")
        assertEquals("left", f(1))
        assertEquals("stayed", f(2))
    )

    testIn := method(
        assertTrue(2 in(list(1, 2)))
        assertFalse(3 in(list(1, 2)))
    )

    testConcatenationConverts := method(
        assertEquals("1nil", 1 .. nil)
        assertEquals("atrue", "a" .. true)
    )

    testSlotSummaryListsSlots := method(
        summary := Object clone do(apple := 1; pear := 2) slotSummary
        assertTrue(summary containsSeq("  apple            = 1\n"))
        assertTrue(summary containsSeq("pear"))
    )

    testSlotSummaryWithKeyword := method(
        summary := Object clone do(apple := 1; pear := 2) slotSummary("app")
        assertTrue(summary containsSeq("apple"))
        assertFalse(summary containsSeq("pear"))
    )

    testInlineMethodRunsInTheCallersContext := method(
        count := 1
        grow := inlineMethod(count = count * 2)
        grow
        grow
        assertEquals(4, count)
    )

    testSerializedEvaluatesToTheSame := method(
        o := Object clone do(n := 1; s := "say \"hi\""; l := list(1, list("b")))
        copy := doString(o serialized)
        assertEquals(1, copy n)
        assertEquals("say \"hi\"", copy s)
        assertEquals("b", copy l at(1) at(0))
    )
)
