// UnitTest: assertions, and the objects that find and run tests.
//
// A test is a slot whose name starts with "test" in a clone of UnitTest:
//     CounterTest := UnitTest clone do(
//         testStartsAtZero := method(assertEquals(0, Counter clone value))
//     )
//     CounterTest run
// The tests of a case run in the order in which they are written.

//metadoc TestRunner description Runs tests and prints a dot for each that passes and an E for each that fails.
TestRunner := Object clone do(
    //doc TestRunner width The width of the printed lines.
    width ::= 70

    init := method(
        self cases := Map clone
        self exceptions := List clone
        self runtime := 0
        self dots := 0
    )

    //doc TestRunner run(cases) Runs the tests of a Map from names of UnitTests in the Lobby to lists of test names. Returns a list of list(name, exception) for those that failed.
    run := method(testCases,
        self cases := testCases
        self runtime := Date secondsToRun(
            testCases foreach(caseName, testNames,
                self runCase(caseName, testNames)
            )
        )
        printExceptions
        printSummary
        exceptions
    )

    runCase := method(caseName, testNames,
        testCase := Lobby getSlot(caseName)
        testNames foreach(testName,
            testCase setUp
            raised := try(stopStatus(testCase doString(testName)))
            if(raised, error(caseName .. " " .. testName, raised), success)
            testCase tearDown
        )
    )

    //doc TestRunner success Notes that a test has passed.
    success := method(printDot("."))

    //doc TestRunner error(name, exception) Notes that a test has failed.
    error := method(name, raised,
        exceptions append(list(name, raised))
        printDot("E")
    )

    printDot := method(dot,
        dot print
        self dots := dots + 1
        if(dots % width == 0, "\n" print)
    )

    //doc TestRunner testCount Returns the number of tests.
    testCount := method(
        count := 0
        cases foreach(caseName, testNames, count = count + testNames size)
        count
    )

    //doc TestRunner name Returns the name of the only test case, or of the launched file if there are several.
    name := method(
        if(cases size > 1, System launchScript fileName, cases keys first ifNilEval(""))
    )

    printExceptions := method(
        "\n" print
        exceptions foreach(failure,
            ("=" repeated(width) .. "\nFAIL: " .. failure at(0) .. "\n" .. "-" repeated(width)) println
            failure at(1) showStack
        )
    )

    printSummary := method(
        count := testCount
        seconds := (runtime * 1000) floor / 1000
        outcome := if(exceptions isEmpty, "OK", "FAILED (failures " .. exceptions size .. ")")
        "-" repeated(width) println
        ("Ran " .. count .. " test" .. if(count == 1, "", "s") .. " in " .. seconds .. "s\n") println
        (outcome .. name alignRight(width - outcome size) .. "\n") println
    )
)

//metadoc RunnerMixIn description Lets an object run the tests that its prepare method collects.
RunnerMixIn := Object clone do(
    //doc RunnerMixIn run Runs the tests. Returns a list of list(name, exception) for those that failed.
    run := method(TestRunner clone run(prepare))
)

//metadoc UnitTest description A group of tests with what they share.
UnitTest := Object clone prependProto(RunnerMixIn) do(
    //doc UnitTest setUp Called before each test.
    setUp := method(nil)

    //doc UnitTest tearDown Called after each test.
    tearDown := method(nil)

    //doc UnitTest testSlotNames Returns a list of the names of the tests, in the order of the source.
    testSlotNames := method(
        self slotNames select(name, name beginsWithSeq("test")) sortByKey(name,
            self getSlot(name) message lineNumber
        )
    )

    prepare := method(Map with(self type, testSlotNames))

    //doc UnitTest fail(error) Makes the running test fail.
    fail := method(error, Exception raise(error ifNilEval("fail")))

    //doc UnitTest knownBug(expression) Makes the running test fail with a note that this is known.
    knownBug := method(fail("`" .. call argAt(0) .. "` is a known bug"))

    //doc UnitTest assertEquals(a, b) Fails unless a == b.
    assertEquals := method(a, b, original,
        if(getSlot("a") != getSlot("b"),
            failComparison("!=", if(original, original, call message), getSlot("a"), getSlot("b"))
        )
    )

    //doc UnitTest assertNotEquals(a, b) Fails if a == b.
    assertNotEquals := method(a, b, original,
        if(getSlot("a") == getSlot("b"),
            failComparison("==", if(original, original, call message), getSlot("a"), getSlot("b"))
        )
    )

    failComparison := method(operator, assertion, a, b,
        expected := if(assertion argCount > 1, assertion argAt(1) asString, getSlot("b") asSimpleString)
        source := assertion argAt(0) asString .. " " .. operator .. " " .. expected
        values := getSlot("a") asSimpleString .. " " .. operator .. " " .. getSlot("b") asSimpleString
        fail("`" .. source .. "` --> `" .. values .. "`")
    )

    //doc UnitTest assertSame(a, b) Fails unless a and b are the same object.
    // Not by uniqueId, which says where an object lies: that no image decides.
    assertSame := method(a, b,
        if(getSlot("a") isIdenticalTo(getSlot("b")) not,
            failComparison("!=", call message, getSlot("a"), getSlot("b"))
        )
    )

    //doc UnitTest assertNotSame(a, b) Fails if a and b are the same object.
    assertNotSame := method(a, b,
        if(getSlot("a") isIdenticalTo(getSlot("b")),
            failComparison("==", call message, getSlot("a"), getSlot("b"))
        )
    )

    //doc UnitTest assertNil(a) Fails unless a is nil.
    assertNil := method(a, assertEquals(getSlot("a"), nil, call message))

    //doc UnitTest assertNotNil(a) Fails if a is nil.
    assertNotNil := method(a, assertNotEquals(getSlot("a"), nil, call message))

    //doc UnitTest assertTrue(a) Fails unless a is true.
    assertTrue := method(a, assertEquals(getSlot("a"), true, call message))

    //doc UnitTest assertFalse(a) Fails unless a is false.
    assertFalse := method(a, assertEquals(getSlot("a"), false, call message))

    //doc UnitTest assertRaisesException(code) Fails unless the code raises an exception.
    assertRaisesException := method(
        if(try(call evalArgAt(0)) isNil,
            fail("`" .. call argAt(0) .. "` should have raised Exception")
        )
    )

    //doc UnitTest assertEqualsWithinDelta(expected, actual, delta) Fails unless the numbers differ by at most delta.
    assertEqualsWithinDelta := method(expected, actual, delta,
        if((expected - actual) abs > delta,
            fail("" .. expected .. " expected, but was " .. actual .. " (allowed delta: " .. delta .. ")")
        )
    )
)

//metadoc FileCollector description Collects all UnitTests in the Lobby: those of the launched file.
FileCollector := Object clone prependProto(RunnerMixIn) do(
    prepare := method(
        cases := Map clone
        Lobby foreachSlot(slotName, slotValue,
            if(getSlot("slotValue") isActivatable not and(getSlot("slotValue") isKindOf(UnitTest)),
                cases mergeInPlace(slotValue prepare)
            )
        )
        cases
    )
)

//metadoc DirectoryCollector description Collects the UnitTests of all *Test.io files of a directory.
DirectoryCollector := Object clone prependProto(RunnerMixIn) do(
    //doc DirectoryCollector path The directory; by default that of the launched file.
    path ::= lazySlot(System launchPath)

    //doc DirectoryCollector with(path) Returns a new collector for the directory.
    with := method(path, self clone setPath(path))

    //doc DirectoryCollector testFiles Returns a list of the files with tests.
    testFiles := method(
        Directory with(path) files select(file, file name endsWithSeq("Test.io"))
    )

    prepare := method(
        testFiles foreach(file, Lobby doString(file contents, file path))
        FileCollector prepare
    )
)

//metadoc TestSuite description Same as DirectoryCollector.
TestSuite := DirectoryCollector
