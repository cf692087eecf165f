// JSON: asJson for the basic types. Sequence asJson and the way back, Sequence parseJson, are
// primitives.

nil asJson := "null"
true asJson := "true"
false asJson := "false"

//doc Number asJson Returns the number; null for infinity and nan, which JSON does not have.
Number asJson := method(
    if(self isNan or(self abs == constants inf), "null", self asString)
)

//doc Date asJson Returns the date as a JSON string.
Date asJson := method(self asString asJson)

// What has parts writes them into one buffer: a text for each level would be copied at each level.

Object do(
    //doc Object asJson Returns the receiver's slots, apart from its methods, as a JSON object; the elements of a List as an array, the pairs of a Map as an object. Raises an exception if the receiver contains itself.
    asJson := method(
        buffer := Sequence clone
        getSlot("self") writeJsonParts(buffer)
        buffer asSymbol
    )

    // The above, by which an asJson of the program's own is told from it.
    asJsonOfParts := getSlot("asJson")

    writeJson := method(buffer,
        if(getSlot("self") getSlot("asJson") isIdenticalTo(Object getSlot("asJsonOfParts")),
            getSlot("self") writeJsonParts(buffer)
        ,
            buffer appendSeq(getSlot("self") asJson)
        )
    )

    writeJsonParts := method(buffer,
        getSlot("self") unlessUnderWay("asJson",
            separator := "{"
            getSlot("self") foreachSlot(name, value,
                if(getSlot("value") isActivatable or(name == "type"), continue)
                buffer appendSeq(separator, name asJson, ":")
                getSlot("value") writeJson(buffer)
                separator = ","
            )
            buffer appendSeq(if(separator == "{", "{}", "}"))
        ,
            Exception raise("what contains itself cannot be written as JSON")
        )
    )
)

List writeJsonParts := method(buffer,
    self unlessUnderWay("asJson",
        buffer appendSeq("[")
        self foreach(index, value,
            if(index > 0, buffer appendSeq(","))
            getSlot("value") writeJson(buffer)
        )
        buffer appendSeq("]")
    ,
        Exception raise("a List that contains itself cannot be written as JSON")
    )
)

Map writeJsonParts := method(buffer,
    self unlessUnderWay("asJson",
        separator := "{"
        self foreach(key, value,
            buffer appendSeq(separator, key asJson, ":")
            getSlot("value") writeJson(buffer)
            separator = ","
        )
        buffer appendSeq(if(separator == "{", "{}", "}"))
    ,
        Exception raise("a Map that contains itself cannot be written as JSON")
    )
)
