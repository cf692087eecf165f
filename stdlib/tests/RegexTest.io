RegexTest := UnitTest clone do(
    testMatchesRegexIsAboutTheWholeText := method(
        assertTrue("2024" matchesRegex("[0-9]+"))
        assertFalse("2024x" matchesRegex("[0-9]+"))
        assertFalse("x2024" matchesRegex("[0-9]+"))
    )

    testHasMatch := method(
        assertTrue("x2024" hasMatchOfRegex("[0-9]+"))
        assertFalse("none" hasMatchOfRegex("[0-9]+"))
    )

    testAllMatches := method(
        assertEquals(list("1", "22", "333"), "1 22 333" allMatchesOfRegex("[0-9]+") map(string))
        assertEquals(list(), "none" allMatchesOfRegex("[0-9]+"))
    )

    testMatchKnowsItsPlace := method(
        match := "say hello" findRegex("hel+o")
        assertEquals("hello", match string)
        assertEquals(4, match start)
        assertEquals(9, match end)
        assertEquals("say ", match prefix)
        assertEquals("", match postfix)
        assertEquals("hello", match asString)
    )

    testFindFromAStart := method(
        assertEquals(2, "a1b2" findRegex("[a-z]", 1) start)
        assertNil("a1b2" findRegex("[a-z]", 3))
    )

    testCaptures := method(
        match := "2024-05" findRegex("([0-9]+)-([0-9]+)(x)?")
        assertEquals(list("2024-05", "2024", "05", nil), match captures)
        assertEquals("05", match at(2))
        assertEquals(5, match startOf(2))
        assertEquals(7, match endOf(2))
        assertNil(match at(3))
        assertNil(match rangeOf(9))
    )

    testNamedCaptures := method(
        regex := Regex with("(?<year>[0-9]+)-(?<month>[0-9]+)")
        match := "on 2024-05" findRegex(regex)
        assertEquals("2024", match at("year"))
        assertEquals("05", match at("month"))
        assertNil(match at("day"))
        assertEquals(list("year", "month"), regex names)
        assertEquals(2, regex captureCount)
        assertEquals(2, regex namedCaptures at("month"))
        assertEquals("year", match nameOf(1))
    )

    testSplit := method(
        assertEquals(list("a", "b", "c"), "a1b22c" splitAtRegex("[0-9]+"))
        assertEquals(list("abc"), "abc" splitAtRegex("[0-9]+"))
        assertEquals(list("", ""), "1" splitAtRegex("[0-9]+"))
    )

    testReplaceWithTemplate := method(
        assertEquals("batwom!s", "wombats" replaceRegex("(wom)(bat)", "$2$1!"))
        assertEquals("<1>-<2>", "1-2" replaceRegex("(?<n>[0-9])", "<${n}>"))
        assertEquals("[a]b", "ab" replaceFirstRegex("[a-z]", "[$0]"))
        assertEquals("none", "none" replaceRegex("[0-9]", "x"))
    )

    testReplaceWithExpression := method(
        bonus := 10
        assertEquals("11 + 12", "1 + 2" matchesOfRegex("[0-9]") replace(m, m string asNumber + bonus))
        assertNil(getSlot("m"))
    )

    testEmptyMatchesEnd := method(
        assertEquals("-a-b-", "ab" replaceRegex("x*", "-"))
        assertEquals(3, "ab" matchesOfRegex("x*") count)
    )

    testCaseless := method(
        regex := Regex with("abc") caseless
        assertTrue("xABCx" hasMatchOfRegex(regex))
        assertFalse("xABCx" hasMatchOfRegex(regex notCaseless))
        assertTrue(regex isCaseless)
        assertFalse(regex isDotAll)
    )

    testMultilineAndDotAll := method(
        assertEquals(2, "a\na" matchesOfRegex(Regex with("^a") multiline) count)
        assertTrue("a\nb" matchesRegex(Regex with("a.b") dotAll))
        assertFalse("a\nb" matchesRegex("a.b"))
    )

    testEscape := method(
        assertEquals("1\\+1\\?", "1+1?" escapeRegexChars)
        assertTrue("1+1?" matchesRegex("1+1?" escapeRegexChars))
    )

    testForeachAndMap := method(
        seen := List clone
        "a1b2" matchesOfRegex("[0-9]") foreach(match, seen append(match string))
        assertEquals(list("1", "2"), seen)
        assertEquals(list(1, 3), "a1b2" matchesOfRegex("[0-9]") map(start))
    )

    testForeachInterval := method(
        seen := List clone
        "a1b" matchesOfRegex("[0-9]") foreachInterval(piece,
            seen append("match " .. piece string)
        ,
            seen append("text " .. piece)
        )
        assertEquals(list("text a", "match 1", "text b"), seen)
    )

    testNextWalksThroughTheMatches := method(
        matches := "a1b2" matchesOfRegex("[0-9]")
        assertEquals("1", matches next string)
        assertEquals("2", matches next string)
        assertNil(matches next)
        assertEquals("1", matches reset next string)
        assertEquals("2", matches last string)
    )

    testInvalidPatternRaises := method(
        assertRaisesException(Regex with("(unclosed"))
    )
)
