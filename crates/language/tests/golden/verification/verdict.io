// Checks judge a case one by one; a verdict is accepted only if each passed. Whatever raises is unsure.
case := Map with("answer", 41)
Verification checkNames println
mine := Verification clone
mine checks empty
(mine judge(case)) println   // nothing was judged

mine checks append(Verification Check clone do(
    name := "answer"
    judge := method(case,
        if(case at("answer") == 42, list(), list(finding("is not 42", "Answer"), finding("is odd")))
    )
))
(mine judge(case)) println
mine judge(case) asMap asJson parseJson at("results") first keys sort println
mine judge(case) reasons println
mine judgeOne("answer", case) at("findings") first keys sort println
mine judge(Map with("answer", 42)) println
mine judge(Map with("answer", 42)) asMap at("isAccepted") println

mine checks append(Verification Check clone do(name := "broken"; judge := method(case, Object frobnicate)))
mine checks append(Verification Check clone do(name := "silent"; judge := method(case, nil)))
(mine judge(Map with("answer", 42))) println
mine judgeOne("answer", case) at("outcome") println
e := try(mine judgeOne("other", case))
e error println

// A case without what a check looks at is unsure, too.
(Verification judge(Map clone)) println

// Too many findings are counted.
many := Verification clone
many checks empty append(Verification Check clone do(name := "many"; judge := method(case, 5 repeat(n, n) ; list(1, 2, 3, 4, 5) map(n, finding("no " .. n)))))
many findingsMax := 2
(many judge(case)) println

// A clone is on its own.
Verification checkNames println
mine weights atPut("rel", 1)
Verification weights at("rel") println
Verification clone safetyRules empty size println
Verification safetyRules isEmpty println
