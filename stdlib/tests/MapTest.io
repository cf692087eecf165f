MapTest := UnitTest clone do(
    setUp := method(
        self ages := Map with("ann", 30, "bob", 20)
    )

    testWith := method(
        assertEquals(2, ages size)
        assertEquals(20, ages at("bob"))
        assertEquals(0, Map with size)
    )

    testEmptiness := method(
        assertTrue(Map clone isEmpty)
        assertFalse(ages isEmpty)
        assertTrue(ages isNotEmpty)
    )

    testMap := method(
        texts := ages map(name, age, name .. age)
        assertEquals(list("ann30", "bob20"), texts sort)
    )

    testMapObeysReturn := method(
        f := method(ages map(name, age, return "early"); "late")
        assertEquals("early", f)
    )

    testMapObeysBreakAndContinue := method(
        assertEquals(list(), ages map(name, age, break))
        assertEquals(list("ann"), ages map(name, age, if(age == 20, continue); name))
    )

    testSelect := method(
        assertEquals(list("ann"), ages select(name, age, age > 25) keys)
        assertEquals(list("bob"), ages select(name, name == "bob") keys)
        assertEquals(2, ages size)
    )

    testDetect := method(
        assertEquals(list("bob", 20), ages detect(name, age, age < 25))
        assertNil(ages detect(name, age, age > 99))
    )

    testMerge := method(
        merged := ages merge(Map with("bob", 21, "eve", 40))
        assertEquals(21, merged at("bob"))
        assertEquals(3, merged size)
        assertEquals(20, ages at("bob"))
    )

    testReverseMap := method(
        assertEquals("a", Map with("a", "x", "b", "y") reverseMap at("x"))
    )

    testAsObject := method(
        assertEquals(30, ages asObject ann)
    )

    testAddKeysAndValues := method(
        m := Map clone addKeysAndValues(list("a", "b"), list(1, 2))
        assertEquals(2, m at("b"))
    )
)
