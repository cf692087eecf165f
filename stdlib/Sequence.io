// Sequence: text and vectors, as far as they are built from the primitives.

ImmutableSequence := ""
String := ImmutableSequence

// Text.

//metadoc Sequence description A row of items of one type: text, bytes or numbers.
Sequence do(
    //doc Sequence validEncodings The names that setEncoding accepts.
    validEncodings := list("ascii", "utf8", "ucs2", "ucs4", "number")

    //doc Sequence validItemTypes The names that setItemType accepts.
    validItemTypes := list("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64")

    //doc Sequence asSimpleString Returns the receiver in quotes, with special characters escaped.
    asSimpleString := method("\"" .. self asString asMutable escape .. "\"")

    //doc Sequence itemCopy Returns a new mutable sequence with the same items.
    itemCopy := method(Sequence clone copy(self))

    //doc Sequence reverse Returns a new sequence with the items in reverse order.
    reverse := method(self itemCopy reverseInPlace)

    //doc Sequence prependSeq(object1, object2, ...) Inserts the objects, as strings, at the start. Returns self.
    prependSeq := method(self atInsertSeq(0, call evalArgs join); self)

    //doc Sequence makeFirstCharacterLowercase Changes the first character of the receiver, which must be mutable. Returns self.
    makeFirstCharacterLowercase := method(
        if(self size > 0, self atPut(0, self at(0) asLowercase))
        self
    )

    //doc Sequence makeFirstCharacterUppercase Changes the first character of the receiver, which must be mutable. Returns self.
    makeFirstCharacterUppercase := method(
        if(self size > 0, self atPut(0, self at(0) asUppercase))
        self
    )

    //doc Sequence slice(start, end) Deprecated: same as exSlice.
    slice := method(
        deprecatedWarning("exSlice")
        self performWithArgList("exSlice", call evalArgs)
    )

    //doc Sequence splitNoEmpties(separator1, separator2, ...) Same as split, without the empty parts.
    splitNoEmpties := method(
        self performWithArgList("split", call evalArgs) selectInPlace(size != 0)
    )

    //doc Sequence orderedSplit(separator1, separator2, ...) Splits at each separator once, in the given order. A separator that is not found gives nil in the place of its part.
    orderedSplit := method(
        separators := call evalArgs
        if(separators isEmpty, return list(self))
        parts := List clone
        start := 0
        missing := 0
        separators foreach(separator,
            end := self findSeq(separator, start)
            if(end isNil,
                missing = missing + 1
                continue
            )
            parts append(self exclusiveSlice(start, end))
            missing repeat(parts append(nil))
            missing = 0
            start = end + separator size
        )
        parts append(if(self size == 0, nil, self exclusiveSlice(start)))
        missing repeat(parts append(nil))
        parts
    )

    //doc Sequence slicesBetween(startSeq, endSeq) Returns a list of the parts that lie between a startSeq and the next endSeq.
    slicesBetween := method(startSeq, endSeq,
        slices := List clone
        position := 0
        while(found := self findSeq(startSeq, position),
            start := found + startSeq size
            end := self findSeq(endSeq, start)
            if(end isNil, break)
            slices append(self exclusiveSlice(start, end))
            position = end + endSeq size
        )
        slices
    )

    //doc Sequence findNthSeq(aSequence, n) Returns the index of the nth occurrence of aSequence, counted from 1, or nil.
    findNthSeq := method(wanted, n,
        index := self findSeq(wanted)
        while(n > 1 and(index isNil not),
            index = self findSeq(wanted, index + 1)
            n = n - 1
        )
        index
    )

    //doc Sequence fileName Returns the last path component without its extension.
    fileName := method(
        if(self isEmpty, return self)
        parts := self split("/") last split(".")
        if(parts size > 1, parts removeLast)
        parts join(".")
    )

    //doc Sequence stringByExpandingTilde Returns the path with each ~ replaced by the home directory.
    stringByExpandingTilde := method(
        if(self containsSeq("~"), self split("~") join(Path homePath), self)
    )

    //doc Sequence asFile Returns a File with the receiver as its path.
    asFile := method(File with(self))

    //doc Sequence asHex Returns two hexadecimal digits per byte: "abc" asHex is "616263".
    asHex := method(
        digits := Sequence clone
        self foreach(byte, digits appendSeq(byte asHex))
        digits
    )

    //doc Sequence asDecodedList Returns the list that asEncodedList made the receiver from.
    asDecodedList := method(List fromEncodedList(self))

    //doc Sequence sequenceSets A Map of lists of character codes: lowercaseSequence, uppercaseSequence and digitSequence.
    sequenceSets := lazySlot(
        codesOf := block(characters,
            codes := List clone
            characters foreach(code, codes append(code))
            codes
        )
        Map with(
            "lowercaseSequence", codesOf call("abcdefghijklmnopqrstuvwxyz"),
            "uppercaseSequence", codesOf call("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            "digitSequence", codesOf call("0123456789")
        )
    )
)

// Vectors: sequences of numbers.

Vector := Sequence clone setItemType("float32") setEncoding("number")

//doc Core vector(number1, number2, ...) Returns a new Vector of the numbers.
vector := method(
    numbers := Vector clone
    call evalArgs foreach(number, numbers append(number))
    numbers
)

Sequence do(
    //doc Sequence x Returns the first item.
    x := method(self at(0))

    //doc Sequence y Returns the second item.
    y := method(self at(1))

    //doc Sequence z Returns the third item.
    z := method(self at(2))

    //doc Sequence setX(number) Sets the first item. Returns self.
    setX := method(number, self atPut(0, number); self)

    //doc Sequence setY(number) Sets the second item. Returns self.
    setY := method(number, self atPut(1, number); self)

    //doc Sequence setZ(number) Sets the third item. Returns self.
    setZ := method(number, self atPut(2, number); self)

    //doc Sequence set(number1, number2, ...) Sets the first items to the numbers.
    set := method(call evalArgs foreach(index, number, self atPut(index, number)))

    //doc Sequence rootMeanSquare Returns the square root of the mean of the squared items.
    rootMeanSquare := method(self meanSquare sqrt)

    //doc Sequence addEquals(aSequence) Same as +=.
    addEquals := Sequence getSlot("+=")
)
