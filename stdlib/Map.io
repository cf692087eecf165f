// Map: building, filtering and merging.
//
// As with foreach, the loop variables of map, select and detect are slots of the sender.

//metadoc Map description A collection of values under keys, which are Sequences.
Map do(
    //doc Map with(key1, value1, key2, value2, ...) Returns a new Map with the given keys and values.
    with := method(
        pairs := Map clone
        for(index, 0, call argCount - 1, 2,
            pairs atPut(call evalArgAt(index), call evalArgAt(index + 1))
        )
        pairs
    )

    //doc Map addKeysAndValues(keys, values) Puts each value under the key at the same place. Returns self.
    addKeysAndValues := method(keys, values,
        keys foreach(index, key, self atPut(key, values at(index)))
        self
    )

    //doc Map isEmpty Returns true if there are no keys.
    isEmpty := method(self size == 0)

    //doc Map isNotEmpty Returns true if there is a key.
    isNotEmpty := method(self size > 0)

    //doc Map map(key, value, expression) Returns a list of the values of the expression for each pair.
    map := method(
        keyName := call argAt(0) name
        valueName := call argAt(1) name
        results := List clone
        self foreach(key, value,
            call sender setSlot(keyName, key)
            call sender setSlot(valueName, getSlot("value"))
            result := call evalArgAt(2)
            results append(getSlot("result"))
        )
        results
    ) setPassStops(true)

    //doc Map select(key, value, expression) Returns a Map of the pairs for which the expression is true.
    select := method(
        chosen := Map clone
        self foreach(key, value,
            call bindPair(key, getSlot("value"))
            if(call evalArgAt(call argCount - 1), chosen atPut(key, getSlot("value")))
        )
        chosen
    ) setPassStops(true)

    //doc Map detect(key, value, expression) Returns a list of the key and value of a pair for which the expression is true, or nil.
    detect := method(
        found := nil
        self foreach(key, value,
            call bindPair(key, getSlot("value"))
            if(call evalArgAt(call argCount - 1),
                found = list(key, getSlot("value"))
                break
            )
        )
        found
    ) setPassStops(true)

    //doc Map merge(aMap) Returns a new Map with the pairs of both; those of aMap win.
    merge := method(other, self clone mergeInPlace(other))

    //doc Map mergeInPlace(aMap) Puts all pairs of aMap into the receiver. Returns self.
    mergeInPlace := method(other,
        other foreach(key, value, self atPut(key, getSlot("value")))
        self
    )

    //doc Map reverseMap Returns a Map from the receiver's values to its keys.
    reverseMap := method(Map clone addKeysAndValues(self values, self keys))

    //doc Map asList Returns a list of lists of a key and its value.
    asList := method(
        pairs := List clone
        self foreach(key, value, pairs append(list(key, getSlot("value"))))
        pairs
    )

    //doc Map asString Returns the pairs as the source of a Map. A map inside of itself is written as three dots.
    asString := method(
        self unlessUnderWay("asString",
            pairs := List clone
            self foreach(key, value, pairs append(key asSimpleString, getSlot("value") asSimpleString))
            "Map with(" .. pairs join(", ") .. ")"
        ,
            "..."
        )
    )

    //doc Map asSimpleString Returns asString, shortened to 40 characters.
    asSimpleString := method(
        self unlessUnderWay("asString", self shortText, "...")
    )

    // What would be cut off is not asked for, as in List.
    shortText := method(
        text := "Map with(" asMutable
        self foreach(key, value,
            if(text endsWithSeq("(") not, text appendSeq(", "))
            text appendSeq(key asSimpleString, ", ", getSlot("value") asSimpleString)
            if(text size > 40, return text exSlice(0, 37) .. "...")
        )
        text appendSeq(")")
        if(text size > 40, text exSlice(0, 37) .. "...", text asSymbol)
    )

    //doc Map asObject Returns a new object with the receiver's pairs as slots.
    asObject := method(
        object := Object clone
        self foreach(key, value, object setSlot(key, getSlot("value")))
        object
    )
)

Call do(
    // Sets the sender's loop variables for a body of the form (expression), (key, expression)
    // or (key, value, expression).
    bindPair := method(key, value,
        if(self argCount > 1, self sender setSlot(self argAt(0) name, key))
        if(self argCount > 2, self sender setSlot(self argAt(1) name, getSlot("value")))
    )
)
