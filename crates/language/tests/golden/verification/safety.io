// Rules over the journal: each refuses one kind of change, with its reason and place.
judge := method(journal, more,
    case := Map with("journal", journal parseJson, "calls", list(), "refusals", list(), "sizes", Map clone, "rules", Map clone)
    if(more, more parseJson foreach(name, value, case atPut(name, value)))
    (Verification Verdict with(list(Verification judgeOne("safety", case)))) println
)
judge("[]")
judge("""[{"operation": "SLOT_SET", "object_id": "1-2", "object_name": "Account", "slot_name": "tax", "value": 1},
    {"operation": "PROTOTYPE_CLONE", "object_id": "1-3", "value": {"kind": "Plain", "protos": [], "slots": [["a", 1]]}},
    {"operation": "SLOT_ADD", "object_id": "1-1", "object_name": "Lobby", "slot_name": "Account", "value": 1}]""")
judge("""[{"operation": "FORGET", "object_id": "1-2"}]""")
judge("""[{"operation": "SLOT_ADD", "object_id": "1-2", "object_name": "Account", "slot_name": "getSlot", "value": 1},
    {"operation": "PROTOTYPE_CLONE", "object_id": "1-3", "value": {"slots": [["a", 1], ["isKindOf", 2]]}}]""")
judge("""[{"operation": "SLOT_SET", "object_id": "1-9", "object_name": "Verification", "slot_name": "checks", "value": null, "isProtected": true}]""")
judge("""[{"operation": "SLOT_ADD", "object_id": "1-1", "object_name": "Lobby", "slot_name": "List", "value": 1},
    {"operation": "SLOT_ADD", "object_id": "1-2", "object_name": "Account", "slot_name": "List", "value": 1}]""")
judge("[]", """{"calls": [{"call": "Http.request"}, {"call": "System.runCommand"}], "rules": {"grants": ["Http"]}}""")
judge("[]", """{"sizes": {"changes": 10001, "bytes": 5, "others": 7}}""")
judge("[]", """{"refusals": ["open /etc/passwd"]}""")

// A rule of one's own; another taken away.
mine := Verification clone
mine safetyRules = mine safetyRules select(name != "attempts")
mine safetyRules append(Verification SafetyRule clone do(
    name := "no passwords"
    reason := "passwords have no place in an image"
    isBrokenBy := method(change, case, slotsOf(change) contains("password"))
))
case := Map with("calls", list(), "refusals", list("x"), "sizes", Map clone, "rules", Map clone,
    "journal", list(Map with("operation", "SLOT_ADD", "object_name", "Account", "slot_name", "password")))
(mine judgeOne("safety", case)) at("findings") foreach(found, writeln(found at("place"), ": ", found at("reason")))
