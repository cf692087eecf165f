RandomTest := UnitTest clone do(
    setUp := method(self dice := Random clone setSeed(42))

    testSameSeedSameNumbers := method(
        other := Random clone setSeed(42)
        5 repeat(assertEquals(dice value, other value))
        assertNotEquals(Random clone setSeed(43) value, Random clone setSeed(42) value)
    )

    testValueStaysInItsRange := method(
        200 repeat(
            v := dice value
            assertTrue(v >= 0 and(v < 1))
            w := dice value(5, 7)
            assertTrue(w >= 5 and(w < 7))
            assertTrue(dice value(3) < 3)
        )
    )

    testIntIsWhole := method(
        seen := List clone
        200 repeat(seen appendIfAbsent(dice int(1, 7)))
        assertEquals(list(1, 2, 3, 4, 5, 6), seen sort)
    )

    testFlipGivesBoth := method(
        seen := List clone
        50 repeat(seen appendIfAbsent(dice flip))
        assertEquals(2, seen size)
    )

    testGaussianIsCentred := method(
        total := 0
        1000 repeat(total = total + dice gaussian(10, 2))
        assertEqualsWithinDelta(10, total / 1000, 0.5)
    )

    testBytes := method(
        assertEquals(16, dice bytes(16) size)
        assertNotEquals(dice bytes(16), dice bytes(16))
    )
)
