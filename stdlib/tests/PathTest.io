PathTest := UnitTest clone do(
    testWithJoinsParts := method(
        assertEquals("a/b/c.io", Path with("a", "b", "c.io"))
        assertEquals("a/b", Path with("a/", "b"))
        assertEquals("a", Path with("a"))
    )

    testWithSkipsNil := method(
        assertEquals("a/b", Path with(nil, "a", nil, "b"))
    )

    testIsPathAbsolute := method(
        assertTrue(Path isPathAbsolute("/a"))
        assertFalse(Path isPathAbsolute("a/b"))
        assertFalse(Path isPathAbsolute(""))
        assertFalse(Path isPathAbsolute(nil))
    )

    testAbsoluteLeavesAbsolutePathsAlone := method(
        assertEquals("/a/b", Path absolute("/a/b"))
    )

    testAbsoluteIsBelowTheCurrentDirectory := method(
        assertTrue(Path isPathAbsolute(Path absolute("x")))
        assertTrue(Path absolute("x") endsWithSeq("/x"))
    )

    testThisSourceFilePath := method(
        assertTrue(Path thisSourceFilePath endsWithSeq("PathTest.io"))
    )

    testSystemOptions := method(
        options := System getOptions(list("--level=3", "--fast", "file.io"))
        assertEquals("3", options at("level"))
        assertEquals("", options at("fast"))
        assertEquals(list("file.io"), options at(""))
    )
)
