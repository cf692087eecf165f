// Regex: searching text for patterns.
//
// The matcher is a primitive: Regex rawMatchAt(text, start) reads the slot source and returns nil
// or a list with a pair (start, end) for the whole match and each capture, nil for a capture that
// took no part. All positions are indexes into the text.

//metadoc Regex description A pattern to search text for.
Regex do(
    //doc Regex pattern Returns the pattern as it was written.
    pattern ::= ""

    // What the matcher compiles: the pattern behind its options.
    source ::= ""

    options ::= list()

    //doc Regex with(pattern) Returns a new Regex; raises if the pattern is not valid.
    with := method(pattern,
        self clone setPattern(pattern) setOptions(List clone) compiled
    )

    compiled := method(
        letters := Map with("caseless", "i", "dotAll", "s", "extended", "x", "multiline", "m")
        flags := options map(option, letters at(option)) join
        setSource(if(flags isEmpty, "", "(?" .. flags .. ")") .. pattern)
        setNameTable(captureNames)
    )

    withOption := method(option, isOn,
        others := options clone remove(option)
        self clone setPattern(pattern) setOptions(if(isOn, others append(option), others)) compiled
    )

    //doc Regex caseless Returns a Regex that does not distinguish upper and lower case.
    caseless := method(withOption("caseless", true))
    notCaseless := method(withOption("caseless", false))
    isCaseless := method(options contains("caseless"))

    //doc Regex dotAll Returns a Regex in which a dot matches line breaks too.
    dotAll := method(withOption("dotAll", true))
    notDotAll := method(withOption("dotAll", false))
    isDotAll := method(options contains("dotAll"))

    //doc Regex extended Returns a Regex that ignores white space and comments in its pattern.
    extended := method(withOption("extended", true))
    notExtended := method(withOption("extended", false))
    isExtended := method(options contains("extended"))

    //doc Regex multiline Returns a Regex in which ^ and $ match at each line.
    multiline := method(withOption("multiline", true))
    notMultiline := method(withOption("multiline", false))
    isMultiline := method(options contains("multiline"))

    //doc Regex asRegex Returns self.
    asRegex := method(self)

    //doc Regex nameTable Returns a list of the names of the captures, nil for those without; the first is the whole match.
    nameTable ::= list(nil)

    //doc Regex names Returns a list of the names of the named captures.
    names := method(nameTable select(name, name isNil not))

    //doc Regex namedCaptures Returns a Map from names to indexes of captures.
    namedCaptures := method(
        indexes := Map clone
        nameTable foreach(index, name, if(name, indexes atPut(name, index)))
        indexes
    )

    //doc Regex captureCount Returns the number of captures, without the whole match.
    captureCount := method(nameTable size - 1)

    //doc Regex matchesIn(text) Returns a RegexMatches of the receiver in the text.
    matchesIn := method(text, RegexMatches clone setRegex(self) setString(text))

    //doc Regex asString Returns the source of the receiver.
    asString := method(
        list(pattern asSimpleString .. " asRegex") appendSeq(options) join(" ")
    )

    asSimpleString := getSlot("asString")
)

//metadoc RegexMatch description One match: the text that matched, its captures and where they are.
RegexMatch := Object clone do(
    regex ::= nil

    //doc RegexMatch subject Returns the text that was searched.
    subject ::= nil

    //doc RegexMatch ranges Returns a list of list(start, end) for the match and its captures.
    ranges ::= nil

    //doc RegexMatch captures Returns a list of the captured strings; the first is the whole match.
    captures := method(
        ranges map(range, if(range, subject exSlice(range first, range last), nil))
    )

    //doc RegexMatch at(indexOrName) Returns the capture with that index or name, or nil.
    at := method(indexOrName,
        range := rangeOf(indexOrName)
        if(range, subject exSlice(range first, range last), nil)
    )

    //doc RegexMatch indexOf(indexOrName) Returns the index of the capture with that name.
    indexOf := method(indexOrName,
        if(indexOrName isKindOf(Sequence), regex nameTable indexOf(indexOrName), indexOrName)
    )

    //doc RegexMatch names Returns a list of the names of the captures, nil for those without.
    names := method(regex nameTable)

    //doc RegexMatch nameOf(index) Returns the name of the capture with that index.
    nameOf := method(index, regex nameTable at(index))

    //doc RegexMatch string Returns the text that matched.
    string := method(at(0))

    //doc RegexMatch asString Same as string.
    asString := getSlot("string")

    //doc RegexMatch size Returns the size of the text that matched.
    size := method(end - start)

    asSimpleString := method(string asSimpleString)

    //doc RegexMatch range Returns list(start, end) of the match.
    range := method(ranges first)

    //doc RegexMatch start Returns the index at which the match starts.
    start := method(ranges first first)

    //doc RegexMatch end Returns the index after the match.
    end := method(ranges first last)

    //doc RegexMatch rangeOf(indexOrName) Returns list(start, end) of a capture, or nil.
    rangeOf := method(indexOrName,
        index := indexOf(indexOrName)
        if(index, ranges at(index), nil)
    )

    //doc RegexMatch startOf(indexOrName) Returns the index at which a capture starts, or nil.
    startOf := method(indexOrName,
        found := rangeOf(indexOrName)
        if(found, found first, nil)
    )

    //doc RegexMatch endOf(indexOrName) Returns the index after a capture, or nil.
    endOf := method(indexOrName,
        found := rangeOf(indexOrName)
        if(found, found last, nil)
    )

    //doc RegexMatch prefix Returns the text before the match.
    prefix := method(subject exSlice(0, start))

    //doc RegexMatch postfix Returns the text after the match.
    postfix := method(subject exSlice(end))

    placeholder := lazySlot(Regex with("\\$(?:(\\d+)|\\{(\\w+)\\})"))

    //doc RegexMatch expandTo(template) Returns the template with $1 replaced by the first capture, $0 by the whole match, ${name} by the capture of that name.
    expandTo := method(template,
        template matchesOfRegex(placeholder) replace(reference,
            number := reference at(1)
            self at(if(number, number asNumber, reference at(2))) ifNilEval("")
        )
    )
)

//metadoc RegexMatches description All matches of a Regex in a text, found one after the other.
RegexMatches := Object clone do(
    regex ::= nil

    //doc RegexMatches string Returns the text that is searched.
    string ::= ""

    //doc RegexMatches position The index at which the search goes on.
    position ::= 0

    //doc RegexMatches reset Starts again at the beginning of the text. Returns self.
    reset := method(setPosition(0))

    //doc RegexMatches next Returns the next match, or nil.
    next := method(
        if(position > string size, return nil)
        found := matchAt(position)
        if(found,
            // An empty match must not be found for ever.
            setPosition(if(found end > found start, found end, found end + 1))
        ,
            setPosition(string size + 1)
        )
        found
    )

    //doc RegexMatches anchored Returns the match that starts exactly at the position, or nil.
    anchored := method(
        found := matchAt(position)
        if(found and(found start == position), found, nil)
    )

    matchAt := method(start,
        ranges := regex rawMatchAt(string, start)
        if(ranges isNil, nil, RegexMatch clone setRegex(regex) setSubject(string) setRanges(ranges))
    )

    //doc RegexMatches all Returns a list of all matches.
    all := method(
        matches := List clone
        reset
        while(match := self next, matches append(match))
        matches
    )

    //doc RegexMatches last Returns the last match, or nil.
    last := method(all last)

    //doc RegexMatches count Returns the number of matches.
    count := method(all size)

    //doc RegexMatches foreach(index, match, body) Evaluates the body for each match.
    foreach := method(call delegateTo(all))

    //doc RegexMatches map(index, match, expression) Returns a list of the values of the expression for each match.
    map := method(call delegateTo(all))

    //doc RegexMatches select(index, match, expression) Returns a list of the matches for which the expression is true.
    select := method(call delegateTo(all))

    //doc RegexMatches foreachInterval(value, matchBody, textBody) Evaluates matchBody for each match and textBody for each piece of text between them, in order.
    foreachInterval := method(
        name := call argAt(0) name
        intervals foreach(interval,
            call sender setSlot(name, interval)
            call evalArgAt(if(interval isKindOf(RegexMatch), 1, 2))
        )
        self
    ) setPassStops(true)

    // The matches and the non-empty texts between them, in order.
    intervals := method(
        pieces := List clone
        cursor := 0
        all foreach(match,
            if(match start > cursor, pieces append(string exSlice(cursor, match start)))
            pieces append(match)
            cursor = match end
        )
        if(cursor < string size, pieces append(string exSlice(cursor)))
        pieces
    )

    //doc RegexMatches replace(match, expression) Returns the text with each match replaced by the value of the expression.
    replace := method(
        name := call argAt(0) name
        context := call iterationContext
        body := call argAt(1)
        replaced := Sequence clone
        intervals foreach(interval,
            if(interval isKindOf(RegexMatch),
                context setSlot(name, interval)
                replaced appendSeq(context doMessage(body) asString)
            ,
                replaced appendSeq(interval)
            )
        )
        replaced
    )

    //doc RegexMatches replaceAllWith(template) Returns the text with each match replaced by the expanded template.
    replaceAllWith := method(template, replace(match, match expandTo(template)))

    //doc RegexMatches replaceFirstWith(template) Returns the text with the first match replaced by the expanded template.
    replaceFirstWith := method(template,
        match := reset next
        if(match, match prefix .. match expandTo(template) .. match postfix, string)
    )

    //doc RegexMatches splitString Returns a list of the texts between the matches.
    splitString := method(
        parts := List clone
        cursor := 0
        all foreach(match,
            parts append(string exSlice(cursor, match start))
            cursor = match end
        )
        parts append(string exSlice(cursor))
    )
)

Sequence do(
    //doc Sequence asRegex Returns a Regex with the receiver as its pattern.
    asRegex := method(Regex with(self))

    //doc Sequence matchesOfRegex(regexOrPattern) Returns a RegexMatches of the Regex in the receiver.
    matchesOfRegex := method(regex, regex asRegex matchesIn(self))

    //doc Sequence allMatchesOfRegex(regexOrPattern) Returns a list of all matches of the Regex in the receiver.
    allMatchesOfRegex := method(regex, self matchesOfRegex(regex) all)

    //doc Sequence matchesRegex(regexOrPattern) Returns true if the Regex matches the whole receiver.
    matchesRegex := method(regex,
        match := self matchesOfRegex(regex) anchored
        match isNil not and(match end == self size)
    )

    //doc Sequence hasMatchOfRegex(regexOrPattern) Returns true if the Regex matches anywhere in the receiver.
    hasMatchOfRegex := method(regex, self findRegex(regex) isNil not)

    //doc Sequence findRegex(regexOrPattern, start) Returns the first match at or after the start, or nil.
    findRegex := method(regex, start,
        self matchesOfRegex(regex) setPosition(start ifNilEval(0)) next
    )

    //doc Sequence splitAtRegex(regexOrPattern) Returns a list of the parts of the receiver between the matches.
    splitAtRegex := method(regex, self matchesOfRegex(regex) splitString)

    //doc Sequence replaceRegex(regexOrPattern, template) Returns a copy with each match replaced by the template, in which $1 and ${name} stand for captures.
    replaceRegex := method(regex, template, self matchesOfRegex(regex) replaceAllWith(template))

    //doc Sequence replaceFirstRegex(regexOrPattern, template) Same as replaceRegex, for the first match only.
    replaceFirstRegex := method(regex, template, self matchesOfRegex(regex) replaceFirstWith(template))

    //doc Sequence escapeRegexChars Returns a copy with a backslash before each character that a pattern would take as special.
    escapeRegexChars := method(
        self matchesOfRegex("[-^$*+?|.()\\[\\]{}\\\\]") replace(match, "\\" .. match string)
    )
)
