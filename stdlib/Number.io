// Number: bases, counting and constants.

//metadoc Number description A double-precision number.
Number do(
    //doc Number constants The constants e, pi, inf and nan.
    constants := Object clone do(
        e := 2.718281828459045
        pi := 3.141592653589793
        inf := 1/0
        nan := 0/0
    )

    //doc Number asSimpleString Same as asString.
    asSimpleString := method(self asString)

    //doc Number toBase(base) Returns the digits of the number in another base: 42 toBase(2) is "101010".
    toBase := method(base, self asString toBase(base))

    //doc Number toBaseWholeBytes(base) Same as toBase, filled with zeros to whole bytes: 42 toBaseWholeBytes(2) is "00101010".
    toBaseWholeBytes := method(base,
        digits := toBase(base)
        digitsPerByte := 256 log(base) ceil
        digits alignRight((digits size / digitsPerByte) ceil * digitsPerByte, "0")
    )

    //doc Number asHex Returns the hexadecimal digits, two per byte: 97 asHex is "61".
    asHex := method(toBaseWholeBytes(16))

    //doc Number asBinary Returns the binary digits, eight per byte.
    asBinary := method(toBaseWholeBytes(2))

    //doc Number asOctal Returns the octal digits, three per byte: 436 asOctal is "000664".
    asOctal := method(toBaseWholeBytes(8))

    //doc Number combinations(size) Returns in how many ways size of the receiver's objects can be chosen.
    combinations := method(size, permutations(size) / size factorial)

    //doc Number permutations(size) Returns in how many orders size of the receiver's objects can be arranged.
    permutations := method(size, self factorial / (self - size) factorial)

    //doc Number minMax(low, high) Returns the receiver, or the nearer bound if it lies outside of them.
    minMax := method(low, high, self min(high) max(low))

    //doc Number isInASequenceSet Returns true if the receiver is a character of one of the Sequence sequenceSets.
    isInASequenceSet := method(
        Sequence sequenceSets detect(name, characters, characters contains(self)) isNil not
    )
)
