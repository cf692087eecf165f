// JSON: asJson for the basic types. Sequence asJson and the way back, Sequence parseJson, are
// primitives.

nil asJson := "null"
true asJson := "true"
false asJson := "false"

//doc Number asJson Returns the number; null for infinity and nan, which JSON does not have.
Number asJson := method(
    if(self isNan or(self abs == constants inf), "null", self asString)
)

//doc List asJson Returns the elements as a JSON array.
List asJson := method(
    "[" .. self map(asJson) join(",") .. "]"
)

//doc Map asJson Returns the pairs as a JSON object.
Map asJson := method(
    pairs := List clone
    self foreach(key, value, pairs append(key asJson .. ":" .. getSlot("value") asJson))
    "{" .. pairs join(",") .. "}"
)

//doc Date asJson Returns the date as a JSON string.
Date asJson := method(self asString asJson)

//doc Object asJson Returns the receiver's slots, apart from its methods, as a JSON object.
Object asJson := method(
    pairs := List clone
    getSlot("self") foreachSlot(name, value,
        if(getSlot("value") isActivatable or(name == "type"), continue)
        pairs append(name asJson .. ":" .. getSlot("value") asJson)
    )
    "{" .. pairs join(",") .. "}"
)
