JsonTest := UnitTest clone do(
    testScalars := method(
        assertEquals("null", nil asJson)
        assertEquals("true", true asJson)
        assertEquals("false", false asJson)
        assertEquals("1.5", 1.5 asJson)
        assertEquals("\"a\"", "a" asJson)
    )

    testStringsAreEscaped := method(
        assertEquals("\"a\\\"b\\\\c\\n\"", "a\"b\\c\n" asJson)
        assertEquals("\"\\u0001\\r\"", (1 asCharacter .. "\r") asJson)
    )

    testNumbersThatJsonDoesNotHave := method(
        assertEquals("null", Number constants inf asJson)
        assertEquals("null", Number constants nan asJson)
    )

    testListsAndMaps := method(
        assertEquals("[1,\"a\",[null]]", list(1, "a", list(nil)) asJson)
        assertEquals("{\"a\":[1]}", Map with("a", list(1)) asJson)
        assertEquals("[]", list() asJson)
        assertEquals("{}", Map clone asJson)
    )

    testObjectsGiveTheirDataSlots := method(
        o := Object clone do(b := 2; a := "x"; act := method(1))
        assertEquals("{\"a\":\"x\",\"b\":2}", o asJson)
    )

    testParseWhatWasWritten := method(
        data := "{\"name\": \"Ann\", \"ages\": [1, 2.5, null, true]}" parseJson
        assertEquals("Ann", data at("name"))
        assertEquals(2.5, data at("ages") at(1))
        assertNil(data at("ages") at(2))
        assertTrue(data at("ages") at(3))
        again := data asJson parseJson
        assertEquals(data at("ages"), again at("ages"))
    )

    testStringsSurviveARoundTrip := method(
        text := "tab\t quote\" slash/ back\\ line\n ü €"
        assertEquals(text asUTF8, Map with("text", text) asJson parseJson at("text") asUTF8)
    )
)
