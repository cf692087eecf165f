// The Composite Entropy Metric: the worked examples of docs/verification.md. Each term alone turns the verdict.
account := method(source, owner,
    Map with("slots", list("tax"), "methods", Map with("tax", source), "protos", list("Object"),
        "references", if(owner, list("Owner"), list()))
)
tenth := "method(balance * 0.1)"
passed := list("passed", "passed")
failed := list("failed: x", "failed: x")
// Nothing is other after than before; the examples change one thing each.
caseWith := method(
    case := Map with(
        "before", Map with("Account", account(tenth, true)), "after", Map with("Account", account(tenth, true)),
        "archive", list(), "testsBefore", Map with("T a", passed, "T b", passed), "testsAfter", Map with("T a", passed, "T b", passed)
    )
    call message arguments foreach(index, argument, if(index % 2 == 0, case atPut(call evalArgAt(index), call evalArgAt(index + 1))))
    case
)
names := list("cog", "sol", "struc", "rel", "cem")
show := method(title, case, term,
    metric := Verification metric(case)
    list("before", "after") foreach(when,
        writeln(title, ", ", when, ": ", names map(name, name .. " " .. metric at(when) at(name) asString(0, 3)) join(", "))
    )
    writeln("  ", Verification judgeOne("purpose", case) at("outcome"))
    if(term,
        without := Verification clone
        without weights atPut(term, 0)
        writeln("  without ", term, ": ", without judgeOne("purpose", case) at("outcome"))
    )
)
show("nothing changed", caseWith)

// H_cog: three of four messages are the same.
wordy := Map with("Account", account("method(balance balance balance * 0.1)", true))
show("one word again and again", caseWith("after", wordy), "cog")

// H_sol: what was rejected is tried again.
fifth := Map with("Account", account("method(balance * 0.2)", true))
rejected := list("method(amount, balance * 0.2)")
show("rejected before", caseWith("after", fifth, "archive", rejected), "sol")

// H_struc: the account has no owner any more.
alone := Map with("Account", account(tenth, false))
show("no owner", caseWith("after", alone), "struc")

// H_rel: one of two tests fails.
show("a test fails", caseWith("testsAfter", Map with("T a", passed, "T b", failed)), "rel")

// A fall is accepted for a gain in relevance: of the image's tests, and of those of the mandate.
show("a test is mended", caseWith("after", alone, "testsBefore", Map with("T a", passed, "T b", failed)))
mandated := Map with("T a", passed, "T b", passed, "T c", passed)
show("mandated", caseWith("after", alone, "testsAfter", mandated, "mandateTests", list("T c")))
// A test that nobody asked for is no gain.
show("a test of its own", caseWith("after", alone, "testsAfter", mandated))
heavy := Verification clone
heavy weights atPut("struc", 10)
heavy judgeOne("purpose", caseWith("after", alone, "testsBefore", Map with("T a", passed, "T b", failed))) at("outcome") println

// How much may be lost is the image's to say.
lenient := Verification clone
lenient tolerance := 0.02
lenient judgeOne("purpose", caseWith("after", alone)) at("outcome") println
Verification judgeOne("purpose", caseWith("after", alone)) at("findings") first at("reason") println

// New methods count from nothing; of a long archive only the end is looked at.
new := Map with("Account", account(tenth, true), "Safe", Map with("slots", list("open"), "methods", Map with("open", "method(door open)"), "protos", list("Object"), "references", list()))
show("a new object", caseWith("after", new))
short := Verification clone
short archiveMax := 1
short metric(caseWith("after", fifth, "archive", rejected clone append("method(1)"))) at("after") at("sol") println

// Nothing at all.
show("nothing", Map with("before", Map clone, "after", Map clone, "archive", list(), "testsBefore", Map clone, "testsAfter", Map clone))
// Only values and empty methods.
show("no messages", caseWith("after", Map with("Account", account("method()", true)), "before", Map with("Account", account("method(1)", true))))
