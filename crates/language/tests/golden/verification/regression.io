// Tests are named, run and compared: what fails, went, or proves less is found; what is flaky or unsure is too.
CounterTest := UnitTest clone do(
    limit := 3
    setUp := method(self count := 1)
    testStart := method(assertEquals(1, count))
    testWrong := method(assertEquals(2, count))
    testData := list(1)
)
ATest := UnitTest clone do(testNothing := method(nil); tearDown := method(Exception raise("cannot end")))
Verification testNames println
Verification runTest("CounterTest testStart") == Verification
list("CounterTest testWrong", "ATest testNothing", "CounterTest testGone", "NoTest testGone", "CounterTest") foreach(name,
    try(Verification runTest(name)) error println
)
sources := Verification testSources
sources keys sort foreach(name, writeln(name, " = ", sources at(name)))

kinds := Verification compareTests("""{
    "testsBefore": {"T a": ["passed", "passed"], "T b": ["passed", "passed"], "T c": ["failed: x", "failed: x"], "T d": ["failed: x", "failed: y"],
        "T e": ["passed", "passed"], "T f": ["passed", "passed"], "T g": ["passed", "passed"]},
    "testsAfter": {"T a": ["passed", "passed"], "T b": ["failed: 1 != 2", "failed: 1 != 2"], "T c": ["passed", "passed"], "T d": ["failed: x", "failed: z"],
        "T e": ["passed", "failed: 3"], "T g": ["unsure: out of time", "passed"], "T new": ["passed", "passed"], "T bad": "failed: x", "T odd": []}
}""" parseJson)
kinds keys sort foreach(name, writeln(name, ": ", kinds at(name)))

judge := method(before, after, sourcesBefore, sourcesAfter,
    case := Map with("testsBefore", before, "testsAfter", after, "testSources", Map with("before", sourcesBefore, "after", sourcesAfter))
    (Verification Verdict with(list(Verification judgeOne("regression", case)))) println
)
none := Map clone
passed := list("passed", "passed")
judge(Map with("T a", passed), Map with("T a", passed, "T b", passed), none, none)
judge(
    Map with("T a", passed, "T b", passed, "T c", passed, "T d", passed),
    Map with("T a", list("failed: 1 != 2", "failed: 1 != 2"), "T b", list("passed", "failed: x"), "T c", list("unsure: out of time", "passed")),
    none, none
)
judge(Map with("T a", passed), Map with("T a", list("unsure: crashed")), none, none)

// What weakens a test.
weakening := method(before, after, Verification weakening(before, after) println)
two := "method(x := 1; assertEquals(1, x); assertTrue(x > 0))"
weakening(two, "method(x := 1\n    assertEquals(1, x)\n    assertTrue(x > 0))")
weakening(two, "method(x := 1; assertEquals(1, x); assertTrue(x > 0); assertTrue(x < 2))")
weakening(two, "method()")
weakening(two, "method(x := 1; assertEquals(1, x))")
weakening(two, "method(x := 1; assertEquals(2, x); assertTrue(x > 0))")
weakening(two, "method(x := 1; return; assertEquals(1, x); assertTrue(x > 0))")
weakening(two, "method(try(x := 1; assertEquals(1, x); assertTrue(x > 0)))")
weakening(two, "method(x := 2; assertEquals(1, x); assertTrue(x > 0))")
weakening(two, "method(assertEquals, x := 1; assertEquals(1, x); assertTrue(x > 0))")
weakening(two, "block(x := 1; assertEquals(1, x); assertTrue(x > 0))")
weakening("3", "4")
weakening("method()", two)

before := Map with("T setUp", "method(1)", "T testA", two, "T help", "method(2)", "T testGone", two)
after := Map with(
    "T setUp", "method(1; self assertEquals := method(nil))", "T testA", "method(nil)", "T assertEquals", "method(nil)", "T testNew", "method(nil)",
    "T other", "method(3)", "New assertEquals", "method(nil)"
)
judge(none, none, before, after)

// A proto that is put between a case and UnitTest is a part of the case.
before := Verification testSources
Lenient := UnitTest clone do(assertEquals := method(a, b, nil))
CounterTest setProto(Lenient)
judge(none, none, before, Verification testSources)

// What setUp sets whatever happens is no part of a case; anything else is.
CounterTest count := 7
CounterTest limit := 1000
CounterTest setProto(UnitTest)
judge(none, none, before, Verification testSources)
