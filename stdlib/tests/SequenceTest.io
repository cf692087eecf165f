SequenceTest := UnitTest clone do(
    testConcatenationMakesSymbols := method(
        assertTrue(("a" .. "b") isSymbol)
        assertEquals("a1", "a" .. 1)
    )

    testRepeated := method(
        assertEquals("ababab", "ab" repeated(3))
        assertEquals("", "ab" repeated(0))
    )

    testAlign := method(
        assertEquals("ab--", "ab" alignLeft(4, "-"))
        assertEquals("--ab", "ab" alignRight(4, "-"))
        assertEquals("-ab-", "ab" alignCenter(4, "-"))
        assertEquals("abc", "abc" alignLeft(2))
        assertEquals("abxyx", "ab" alignLeft(5, "xy"))
    )

    testAlignLeftInPlaceChangesTheReceiver := method(
        s := "ab" asMutable
        assertSame(s, s alignLeftInPlace(4))
        assertEquals("ab  ", s)
    )

    testAsSimpleStringEscapes := method(
        assertEquals("\"a\\\"b\"", "a\"b" asSimpleString)
    )

    testFirstCharacter := method(
        assertEquals("aBC", "ABC" asMutable makeFirstCharacterLowercase)
        assertEquals("Abc", "abc" asMutable makeFirstCharacterUppercase)
        assertEquals("", "" asMutable makeFirstCharacterUppercase)
    )

    testSlicesBetween := method(
        assertEquals(list("a", "/b"), "<a>x</b>" slicesBetween("<", ">"))
        assertEquals(list(), "no tags" slicesBetween("<", ">"))
        assertEquals(list("a"), "<a><open" slicesBetween("<", ">"))
    )

    testSplitNoEmpties := method(
        assertEquals(list("a", "b"), " a   b " splitNoEmpties)
        assertEquals(list("a", "b", "c"), "a,,b;c" splitNoEmpties(",", ";"))
    )

    testOrderedSplit := method(
        assertEquals(list("a", "b", "c"), "a,b;c" orderedSplit(",", ";"))
        assertEquals(list("a", nil, "c"), "a;c" orderedSplit(",", ";"))
        assertEquals(list("abc"), "abc" orderedSplit)
    )

    testFindNthSeq := method(
        assertEquals(1, "xaxax" findNthSeq("a", 1))
        assertEquals(3, "xaxax" findNthSeq("a", 2))
        assertNil("xaxax" findNthSeq("a", 3))
    )

    testPrependSeq := method(
        assertEquals("1ab", "b" asMutable prependSeq(1, "a"))
    )

    testReverse := method(
        assertEquals("cba", "abc" reverse)
    )

    testAsHex := method(
        assertEquals("616263", "abc" asHex)
    )

    testFileName := method(
        assertEquals("archive.tar", "/home/me/archive.tar.gz" fileName)
        assertEquals("README", "docs/README" fileName)
    )

    testSequenceSets := method(
        assertTrue(97 isInASequenceSet)
        assertTrue(48 isInASequenceSet)
        assertFalse(32 isInASequenceSet)
    )

    testVector := method(
        v := vector(1, 2, 3)
        assertEquals(1, v x)
        assertEquals(3, v z)
        v setY(7)
        assertEquals(7, v y)
        v set(4, 5)
        assertEquals(4, v x)
        assertEquals("float32", v itemType)
    )

    testRootMeanSquare := method(
        assertEquals(5, vector(5, 5) rootMeanSquare)
    )

    testNumberBases := method(
        assertEquals("101010", 42 toBase(2))
        assertEquals("00101010", 42 asBinary)
        assertEquals("2a", 42 asHex)
        assertEquals("664", 436 toBase(8))
    )

    testNumberCounting := method(
        assertEquals(10, 5 combinations(2))
        assertEquals(20, 5 permutations(2))
        assertEquals(3, 7 minMax(1, 3))
        assertEquals(1, 0 minMax(1, 3))
    )
)
