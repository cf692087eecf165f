// List: the loops that take a body, and what is built from them.
//
// map, select, detect, groupBy and reduce take their body in three forms:
//     aList map(message)                 sends the message to each element
//     aList map(value, expression)       names the element
//     aList map(index, value, expression)
// The body sees the sender's slots, but the names it defines do not leak into the sender.

Call do(
    // How many leading arguments name loop variables; the next one is the body.
    loopNameCount := method(
        if(self message argCount == 0, self raiseMissing)
        (self message argCount - 1) min(2)
    )

    raiseMissing := method(
        Exception raise("'List " .. (self message name) .. "' needs at least 1 argument, got 0")
    )
)

//metadoc List description An ordered, growing collection of any values.
List do(
    //doc List map(index, value, expression) Returns a list of the values of the expression for each element that is there when it begins.
    map := method(mapInto(self clone, call))

    //doc List mapInPlace(index, value, expression) Replaces each element by the value of the expression for it. Returns self.
    mapInPlace := method(mapInto(self, call))

    // Walks the results, which begin as the elements: what the body does to the list meanwhile changes nothing.
    mapInto := method(results, caller,
        names := caller loopNameCount
        body := caller argAt(names)
        context := caller iterationContext
        if(names == 0) then(
            results foreach(index, value,
                results atPut(index, getSlot("value") doMessage(body, context))
            )
        ) elseif(names == 1) then(
            valueName := caller argAt(0) name
            results foreach(index, value,
                context setSlot(valueName, getSlot("value"))
                results atPut(index, context doMessage(body))
            )
        ) else(
            indexName := caller argAt(0) name
            valueName := caller argAt(1) name
            results foreach(index, value,
                context setSlot(indexName, index)
                context setSlot(valueName, getSlot("value"))
                results atPut(index, context doMessage(body))
            )
        )
        results
    )

    //doc List select(index, value, expression) Returns a list of the elements for which the expression is true.
    select := method(selectInto(self clone, call))

    //doc List selectInPlace(index, value, expression) Removes the elements for which the expression is nil or false. Returns self.
    selectInPlace := method(selectInto(self, call))

    // An element counts as kept until the body has rejected it, so a break keeps all the rest.
    selectInto := method(results, caller,
        names := caller loopNameCount
        body := caller argAt(names)
        context := caller iterationContext
        kept := List clone
        index := -1
        if(names == 0) then(
            self foreach(index, value,
                kept append(getSlot("value"))
                if(getSlot("value") doMessage(body, context), nil, kept pop)
            )
        ) elseif(names == 1) then(
            valueName := caller argAt(0) name
            self foreach(index, value,
                kept append(getSlot("value"))
                context setSlot(valueName, getSlot("value"))
                if(context doMessage(body), nil, kept pop)
            )
        ) else(
            indexName := caller argAt(0) name
            valueName := caller argAt(1) name
            self foreach(index, value,
                kept append(getSlot("value"))
                context setSlot(indexName, index)
                context setSlot(valueName, getSlot("value"))
                if(context doMessage(body), nil, kept pop)
            )
        )
        if(index + 1 < self size, kept appendSeq(self slice(index + 1)))
        results copy(kept)
    )

    //doc List detect(index, value, expression) Returns the first element for which the expression is true, or nil.
    detect := method(
        names := call loopNameCount
        body := call argAt(names)
        context := call iterationContext
        if(names == 0) then(
            self foreach(value,
                if(getSlot("value") doMessage(body, context), return getSlot("value"))
            )
        ) elseif(names == 1) then(
            valueName := call argAt(0) name
            self foreach(value,
                context setSlot(valueName, getSlot("value"))
                if(context doMessage(body), return getSlot("value"))
            )
        ) else(
            indexName := call argAt(0) name
            valueName := call argAt(1) name
            self foreach(index, value,
                context setSlot(indexName, index)
                context setSlot(valueName, getSlot("value"))
                if(context doMessage(body), return getSlot("value"))
            )
        )
        nil
    )

    //doc List groupBy(index, value, expression) Returns a Map from each value of the expression, as a string, to the list of elements that gave it.
    groupBy := method(
        groups := Map clone
        elements := self clone
        keys := mapInto(self clone, call)
        elements foreach(index, value,
            groups atIfAbsentPut(keys at(index) asString, List clone) append(getSlot("value"))
        )
        groups
    )

    //doc List reduce(total, value, expression, initial) Combines all elements from the left: reduce(+) sends + to the total with each element as argument. Without an initial value the first element is it.
    reduce := method(
        argumentCount := call argCount
        if(argumentCount == 0, call raiseMissing)
        if(argumentCount isEven,
            total := call evalArgAt(argumentCount - 1)
            rest := self
        ,
            total := self first
            rest := self slice(1)
        )
        if(argumentCount <= 2) then(
            operation := call argAt(0) name
            rest foreach(value,
                total = getSlot("total") perform(operation, getSlot("value"))
            )
        ) else(
            totalName := call argAt(0) name
            valueName := call argAt(1) name
            body := call argAt(2)
            context := call iterationContext
            rest foreach(value,
                context setSlot(totalName, getSlot("total"))
                context setSlot(valueName, getSlot("value"))
                total = context doMessage(body)
            )
        )
        getSlot("total")
    )

    //doc List reverseReduce(total, value, expression, initial) Same as reduce, from the right.
    reverseReduce := method(call delegateToMethod(self reverse, "reduce"))
)

// Numbers and comparisons.

List do(
    //doc List sum Returns the sum of the elements, or nil if there are none.
    sum := method(
        total := self first
        self slice(1) foreach(value, total = total + value)
        total
    )

    //doc List average Returns the mean of the elements.
    average := method(self sum / self size)

    //doc List max(message) Returns the greatest element; with a message, the one that answers it with the greatest value.
    max := method(
        if(call argCount > 0, return extremeByKey(call, ">"))
        winner := self first
        self foreach(value, if(value > winner, winner = value))
        winner
    )

    //doc List min(message) Returns the least element; with a message, the one that answers it with the least value.
    min := method(
        if(call argCount > 0, return extremeByKey(call, "<"))
        winner := self first
        self foreach(value, if(value < winner, winner = value))
        winner
    )

    extremeByKey := method(caller, comparison,
        key := caller argAt(0)
        winner := nil
        winningKey := nil
        self foreach(index, value,
            valueKey := getSlot("value") doMessage(key, caller sender)
            if(index == 0 or(valueKey perform(comparison, winningKey)),
                winner = getSlot("value")
                winningKey = valueKey
            )
        )
        getSlot("winner")
    )
)

// Other lists.

List do(
    //doc List copy(aList) Replaces the elements by those of aList. Returns self.
    copy := method(other, self removeAll appendSeq(other))

    //doc List itemCopy Returns a plain List with the same elements.
    itemCopy := method(List clone appendSeq(self))

    //doc List empty Removes all elements. Returns self.
    empty := method(self removeAll)

    //doc List isEmpty Returns true if there are no elements.
    isEmpty := method(self size == 0)

    //doc List isNotEmpty Returns true if there is an element.
    isNotEmpty := method(self size > 0)

    //doc List second Returns the second element.
    second := method(self at(1))

    //doc List third Returns the third element.
    third := method(self at(2))

    //doc List rest Returns a list of all elements but the first.
    rest := method(self slice(1))

    //doc List exSlice(start, end, step) Same as slice.
    exSlice := getSlot("slice")

    //doc List removeFirst Removes and returns the first element, or returns nil if there is none.
    removeFirst := method(if(self size > 0, self removeAt(0), nil))

    //doc List removeLast Removes and returns the last element, or returns nil if there is none.
    removeLast := method(self pop)

    //doc List removeSeq(aList) Removes every element that aList contains. Returns self.
    removeSeq := method(unwanted,
        unwanted foreach(value, self remove(getSlot("value")))
        self
    )

    //doc List insertAt(item, index) Inserts the item at the index. Returns self.
    insertAt := method(item, index, self atInsert(index, getSlot("item")))

    //doc List insertAfter(item, other) Inserts the item after the first occurrence of other, or at the end. Returns self.
    insertAfter := method(item, other,
        index := self indexOf(getSlot("other"))
        self atInsert(if(index, index + 1, self size), getSlot("item"))
    )

    //doc List insertBefore(item, other) Inserts the item before the first occurrence of other, or at the end. Returns self.
    insertBefore := method(item, other,
        index := self indexOf(getSlot("other"))
        self atInsert(if(index, index, self size), getSlot("item"))
    )

    //doc List reverse Returns a list with the elements in reverse order.
    reverse := method(self itemCopy reverseInPlace)

    //doc List sort Returns a sorted list; nan comes last.
    sort := method(self clone sortInPlace)

    // sortInPlace(message): by what each element answers to the message.
    sortInPlaceByKeyMessage := method(key,
        sender := call sender
        keyed := List clone
        self foreach(value, keyed append(list(getSlot("value") doMessage(key, sender), getSlot("value"))))
        keyed sortInPlaceBy(block(a, b, a at(0) < b at(0)))
        keyed foreach(index, pair, self atPut(index, pair at(1)))
        self
    )

    //doc List sortBy(aBlock) Returns a list sorted by aBlock, which tells whether its first argument comes before its second.
    sortBy := method(isBefore, self clone sortInPlaceBy(getSlot("isBefore")))

    //doc List flatten Returns a list in which the elements of contained lists, at any depth, stand for these lists.
    flatten := method(self flattenInto(List clone))

    flattenInto := method(flat,
        self unlessUnderWay("flatten",
            self foreach(value,
                if(getSlot("value") isKindOf(List),
                    getSlot("value") flattenInto(flat)
                ,
                    flat append(getSlot("value"))
                )
            )
        ,
            Exception raise("a List that contains itself cannot be flattened")
        )
        flat
    )

    //doc List unique Returns a list without duplicates, each element at its first place.
    unique := method(
        distinct := List clone
        self foreach(value, distinct appendIfAbsent(getSlot("value")))
        distinct
    )

    //doc List uniqueCount Returns a list of pairs: each distinct element and how often it occurs.
    uniqueCount := method(
        self unique map(item, list(item, self select(== item) size))
    )

    //doc List containsAll(aList) Returns true if every element of aList is in the receiver.
    containsAll := method(others, others detect(item, self contains(item) not) == nil)

    //doc List containsAny(aList) Returns true if an element of aList is in the receiver.
    containsAny := method(others, others detect(item, self contains(item)) != nil)

    //doc List intersect(aList) Returns a list of the elements of aList that are also in the receiver.
    intersect := method(others, others select(item, self contains(item)))

    //doc List difference(aList) Returns a list of the receiver's elements that are not in aList.
    difference := method(others, self select(item, others contains(item) not))

    //doc List union(aList) Returns a list of the receiver's elements and of those that are only in aList.
    union := method(others, self clone appendSeq(others difference(self)))
)

// Conversions.

List do(
    //doc List join(separator) Returns a Sequence of all elements, with the separator between them if one is given.
    join := method(separator,
        joined := Sequence clone
        if(separator isNil,
            self foreach(value, joined appendSeq(getSlot("value")))
        ,
            self foreach(index, value,
                if(index > 0, joined appendSeq(separator))
                joined appendSeq(getSlot("value"))
            )
        )
        joined
    )

    //doc List asString Returns the elements as the source of a list. A list inside of itself is written as three dots.
    asString := method(
        self unlessUnderWay("asString",
            "list(" .. self map(asSimpleString) join(", ") .. ")"
        ,
            "..."
        )
    )

    //doc List asSimpleString Returns asString, shortened to 40 characters.
    asSimpleString := method(
        self unlessUnderWay("asString", self shortText, "...")
    )

    // What would be cut off is not asked for: lists that share their elements grow with each level.
    shortText := method(
        text := "list(" asMutable
        self foreach(index, value,
            if(index > 0, text appendSeq(", "))
            text appendSeq(getSlot("value") asSimpleString)
            if(text size > 40, return text exSlice(0, 37) .. "...")
        )
        text appendSeq(")")
        if(text size > 40, text exSlice(0, 37) .. "...", text asSymbol)
    )

    //doc List asMap Returns a Map from a list of key and value pairs.
    asMap := method(
        pairs := Map clone
        self foreach(pair, pairs atPut(pair at(0), pair at(1)))
        pairs
    )

    //doc List asMessage Returns a message without a name that has the elements as its evaluated arguments.
    asMessage := method(
        arguments := List clone
        self foreach(value, arguments append(Message clone setCachedResult(getSlot("value"))))
        Message clone setArguments(arguments)
    )

    //doc List mapFromKey(code) Returns a Map from the value of the code, sent to each element, to the list of elements that gave it.
    mapFromKey := method(code,
        key := code asMessage
        groups := Map clone
        self foreach(value,
            groups atIfAbsentPut(getSlot("value") doMessage(key), List clone) append(getSlot("value"))
        )
        groups
    )

    //doc List cursor Returns a ListCursor at the first element.
    cursor := method(ListCursor clone setCollection(self))
)

List ListCursor := Object clone do(
    index ::= 0
    collection ::= nil

    //doc ListCursor next Moves to the next element. Returns false at the end.
    next := method(moveTo(index + 1))

    //doc ListCursor previous Moves to the previous element. Returns false at the start.
    previous := method(moveTo(index - 1))

    moveTo := method(wanted,
        self index := wanted minMax(0, collection size - 1)
        index == wanted
    )

    //doc ListCursor value Returns the current element.
    value := method(collection at(index))

    //doc ListCursor insert(value) Inserts a value before the current element.
    insert := method(item, collection atInsert(index, getSlot("item")))

    //doc ListCursor remove Removes the current element.
    remove := method(collection removeAt(index))
)

// Sorting by a key that is computed once per element.

List do(
    //doc List sortByKey(value, expression) Returns a list sorted by the value of the expression for each element; the expression alone is sent to the element.
    sortByKey := method(call delegateToMethod(self, "sortKey") sort)

    //doc List sortKey(value, expression) Computes the keys and returns a KeyedList, which sorts by them: sort, sort(>) or sort(a, b, a > b).
    sortKey := method(
        keyed := KeyedList clone
        body := call argAt(call argCount - 1)
        valueName := if(call argCount > 1, call argAt(0) name, nil)
        self foreach(value,
            key := if(valueName,
                call sender setSlot(valueName, getSlot("value"))
                call sender doMessage(body)
            ,
                getSlot("value") doMessage(body, call sender)
            )
            keyed addPair(key, getSlot("value"))
        )
        keyed
    ) setPassStops(true)

    KeyedList := Object clone do(
        init := method(self pairs := List clone)

        //doc KeyedList addPair(key, value) Adds a value with its key. Returns self.
        addPair := method(key, value,
            pairs append(list(getSlot("key"), getSlot("value")))
            self
        )

        //doc KeyedList sort Returns a list of the values in the order of their keys; sort(>) and sort(a, b, expression) compare keys in another way.
        sort := method(
            sender := call sender
            if(call argCount == 0) then(
                ordered := pairs sortBy(block(a, b, a first < b first))
            ) elseif(call argCount == 1) then(
                comparison := call argAt(0) name
                ordered := pairs sortBy(block(a, b, a first perform(comparison, b first)))
            ) else(
                firstName := call argAt(0) name
                secondName := call argAt(1) name
                body := call argAt(2)
                ordered := pairs sortBy(block(a, b,
                    sender setSlot(firstName, a first)
                    sender setSlot(secondName, b first)
                    sender doMessage(body)
                ))
            )
            ordered map(at(1))
        )
    )
)
