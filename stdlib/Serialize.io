// Serialization: any object as source that makes an equal one. What contains itself is refused.

//metadoc SerializationStream description Collects the source.
SerializationStream := Object clone do(
    init := method(self output := Sequence clone)

    //doc SerializationStream write(aSequence, ...) Adds the sequences to the output. Returns self.
    write := method(
        call evalArgs foreach(part, output appendSeq(part))
        self
    )
)

Object do(
    //doc Object serialized(stream) Returns source that makes an object like the receiver; adds it to the stream if one is given.
    serialized := method(stream,
        if(stream isNil, stream = SerializationStream clone)
        getSlot("self") unlessUnderWay("serialized",
            getSlot("self") justSerialized(stream)
        ,
            Exception raise("what contains itself cannot be serialized")
        )
        stream output
    )

    //doc Object justSerialized(stream) Writes the receiver to the stream.
    justSerialized := method(stream,
        origin := if(self hasLocalSlot("type"), self proto type, self type)
        stream write(origin, " clone do(\n")
        self serializedSlots(stream)
        stream write(")\n")
    )

    //doc Object serializedSlots(stream) Writes all slots to the stream.
    serializedSlots := method(stream,
        self serializedSlotsWithNames(self slotNames, stream)
    )

    //doc Object serializedSlotsWithNames(names, stream) Writes the named slots to the stream.
    serializedSlotsWithNames := method(names, stream,
        names foreach(name,
            stream write("\t", name, " := ")
            self getSlot(name) serialized(stream)
            stream write("\n")
        )
    )
)

nil justSerialized := method(stream, stream write("nil"))
true justSerialized := method(stream, stream write("true"))
false justSerialized := method(stream, stream write("false"))
Number justSerialized := method(stream, stream write(self asSimpleString))
Sequence justSerialized := method(stream, stream write(self asSimpleString))
getSlot("Block") justSerialized := method(stream, stream write(getSlot("self") code, "\n"))

List justSerialized := method(stream,
    stream write("list(")
    self foreach(index, value,
        if(index > 0, stream write(", "))
        getSlot("value") serialized(stream)
    )
    stream write(");")
)

Map justSerialized := method(stream,
    stream write("Map clone do(")
    self foreach(key, value,
        stream write("atPut(")
        key serialized(stream)
        stream write(", ")
        getSlot("value") serialized(stream)
        stream write(");")
    )
    stream write(");")
)

Date justSerialized := method(stream,
    stream write("Date clone do(")
    list("Year", "Month", "Day", "Hour", "Minute", "Second") foreach(index, part,
        if(index > 0, stream write(" "))
        stream write("set" .. part .. "(" .. self perform(part asLowercase) .. ")")
    )
    stream write(");")
)
