// Rules of architecture: every one judges its own examples rightly; what was so before is not held against a change.
Verification purityRules foreach(rule,
    writeln(rule name, " (", rule decision, "): ", rule accepts size, " and ", rule refuses size, " examples, wrong: ", rule wrongExamples)
)

survey := method(source,
    context := Object clone
    context doString(source)
    objects := Map clone
    context foreachSlot(name, value, if(name != "type", objects atPut(name, getSlot("value"))))
    Verification survey(objects)
)
judge := method(before, after,
    (Verification Verdict with(list(Verification judgeOne("purity", Map with("before", survey(before), "after", survey(after)))))) println
)
twins := "Dog := Object clone do(eat := method(1); sleep := method(2); walk := method(3)); Cat := Object clone do(eat := method(1); sleep := method(2); walk := method(3))"
judge("", twins)
judge(twins, twins)
judge("", "Lesson := Object clone do(class := 1; superclass := 2)")
judge("Lesson := Object clone do(class := 1)", "Lesson := Object clone do(class := 2; hours := 1)")
judge("", "Point := Object clone do(new := method(made := Object clone; foreachSlot(name, value, made setSlot(name, getSlot(\"value\"))); made))")

// What was not touched is compared with.
found := survey(twins)
found at("Dog") atPut("isTouched", false)
Verification judgeOne("purity", Map with("before", Map clone, "after", found)) at("findings") first at("place") println

// A rule of one's own, with examples that are wrong.
rule := Verification PurityRule clone do(
    name := "short names"
    decision := "0999: Short names"
    reason := "has a slot with a long name"
    accepts := list("A := Object clone do(a := 1)", "A := Object clone do(thisIsVeryLong := 1)")
    refuses := list("A := Object clone do(thisIsVeryLong := 1)")
    isBrokenBy := method(object, case, object at("slots") detect(size > 10) isNil not)
)
rule wrongExamples println
mine := Verification clone
mine purityRules append(rule)
mine judgeOne("purity", Map with("before", Map clone, "after", survey("A := Object clone do(thisIsVeryLong := 1)"))) at("findings") first at("reason") println
