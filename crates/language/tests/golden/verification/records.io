// What is kept of verdicts and rejections are objects; a rejection knows which objects the dream would have changed.
Account := Object clone
Other := Object clone
verdict := Verification Verdict with(list(
    Map with("check", "safety", "outcome", "passed", "findings", list()),
    Map with("check", "purity", "outcome", "failed", "findings", list(Map with("check", "purity", "reason", "is bad", "place", "Account tax")))
))
verdict println
verdict isAccepted println
verdict reasons println
verdict results map(type) println
verdict asMap keys sort println
Verification Verdict isAccepted println   // nothing was judged

rejection := Dream Rejection clone do(
    dream := "d5"; mandate := "try"; agent := ""; time := 0; reasons := list("no", "never")
    objects := list(Account); names := list("Account"); verdict := Lobby verdict
)
list(Account, Other, nil, Account clone) map(each, rejection touches(each)) println
rejection println
rejection asMap keys sort println
rejection asMap asJson parseJson at("verdict") at("isAccepted") println
list(Dream Merge, Dream Conflict, Dream Rejection, Dream OutboxCall) map(isKindOf(Dream Record)) println
Dream Records clone append(1, 2) println

// A test of the mandate that is not there has not passed.
relevance := method(after, asked,
    case := Map with("testsBefore", Map with("T a", list("passed")), "mandateTests", asked)
    Verification relevance(case, after) println
)
relevance(Map with("T a", list("passed", "passed")), list())
relevance(Map with("T a", list("passed", "passed")), list("T b"))
relevance(Map with("T a", list("passed", "passed"), "T b", list("passed", "failed: x")), list("T b"))
relevance(Map with("T a", list("passed", "passed"), "T b", list("passed", "passed")), list("T b", "T b"))

// That two objects are the same is no matter of where they lie.
try(UnitTest assertSame(1, 2)) error println
try(UnitTest assertNotSame(nil, nil)) error println
try(UnitTest assertSame(Account, Account)) println
try(UnitTest assertNotSame(Account, Other)) println
