// JSON: asJson for the basic types. The way back, Sequence parseJson, is a primitive.

nil asJson := "null"
true asJson := "true"
false asJson := "false"

//doc Number asJson Returns the number; null for infinity and nan, which JSON does not have.
Number asJson := method(
    if(self isNan or(self abs == constants inf), "null", self asString)
)

Sequence do(
    jsonEscapes := lazySlot(
        escapes := Map with(
            "\"", "\\\"", "/", "\\/", "\n", "\\n", "\t", "\\t", "\r", "\\r", "\b", "\\b", "\f", "\\f"
        )
        for(code, 0, 31,
            escapes atIfAbsentPut(code asCharacter, "\\u" .. code toBase(16) alignRight(4, "0"))
        )
        escapes
    )

    //doc Sequence asJson Returns the receiver as a JSON string, in quotes.
    asJson := method(
        "\"" .. self asUTF8 asMutable replaceSeq("\\", "\\\\") replaceMap(jsonEscapes) .. "\""
    )
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
