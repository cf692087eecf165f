OperatorTableTest := UnitTest clone do(
    tearDown := method(
        OperatorTable operators removeAt("<+>")
        OperatorTable assignOperators removeAt("<-")
    )

    testAddOperator := method(
        OperatorTable addOperator("<+>", 3)
        Number setSlot("<+>", method(other, self * 100 + other))
        assertEquals(102, doString("1 <+> 2"))
        assertEquals(106, doString("1 <+> 2 * 3"))
        Number removeSlot("<+>")
    )

    testAddAssignOperator := method(
        OperatorTable addAssignOperator("<-", "receive")
        o := Object clone do(receive := method(name, value, list(name, value)))
        assertEquals(list("x", 5), o doString("x <- 5"))
    )

    testPrecedenceDefaultsToZero := method(
        OperatorTable addOperator("<+>")
        assertEquals(0, OperatorTable operators at("<+>"))
    )

    testReverseAssignOperators := method(
        assertEquals("=", OperatorTable reverseAssignOperators at("updateSlot"))
    )

    testAsStringListsOperators := method(
        text := OperatorTable asString
        assertTrue(text containsSeq("Assign Operators"))
        assertTrue(text containsSeq("updateSlot"))
    )
)
