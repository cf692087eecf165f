// File: reading, writing and copying whole files.

//metadoc File description A file: its path, contents and position.
File do(
    //doc File with(path) Returns a new File with the path.
    with := method(path, self clone setPath(path))

    //doc File create Creates the file if it does not exist. Returns self, or nil if that failed.
    create := method(if(self open, self close; self, nil))

    //doc File setContents(aSequence) Replaces the contents of the file. Returns self.
    setContents := method(contents,
        self truncateToSize(0) open write(contents) close
        self
    )

    //doc File appendToContents(aSequence, ...) Adds the sequences to the end of the file. Returns self.
    appendToContents := method(
        self openForAppending
        call evalArgs foreach(part, self write(part))
        self close
        self
    )

    //doc File readToEnd(chunkSize) Returns all that is left to read in an open file, read in chunks of 4096 bytes or the given size.
    readToEnd := method(chunkSize,
        if(chunkSize isNil, chunkSize = 4096)
        buffer := Sequence clone
        while(self readToBufferLength(buffer, chunkSize) == chunkSize, nil)
        buffer
    )

    //doc File foreach(index, byte, expression) Evaluates the expression for each byte that is left to read; the index is optional.
    foreach := method(
        names := call message arguments
        byteName := names at(names size - 2) name
        indexName := if(names size > 2, names first name, nil)
        index := 0
        result := nil
        while(chunk := self readBufferOfLength(1),
            if(indexName, call sender setSlot(indexName, index))
            call sender setSlot(byteName, chunk at(0))
            index = index + 1
            result = call evalArgAt(names size - 1)
        )
        result
    ) setPassStops(true)

    //doc File foreachLine(number, line, expression) Evaluates the expression for each line that is left to read; the number, which counts from 0, is optional.
    foreachLine := method(
        names := call message arguments
        lineName := names at(names size - 2) name
        numberName := if(names size > 2, names first name, nil)
        number := 0
        result := nil
        while(line := self readLine,
            if(numberName, call sender setSlot(numberName, number))
            call sender setSlot(lineName, line)
            number = number + 1
            result = call evalArgAt(names size - 1)
        )
        result
    ) setPassStops(true)

    //doc File baseName Returns the name without its last extension.
    baseName := method(self name split(".") slice(0, -1) join("."))

    //doc File parentDirectory Returns the Directory that contains the file.
    parentDirectory := method(Directory with(self path pathComponent))

    //doc File containingDirectory Deprecated: same as parentDirectory.
    containingDirectory := method(
        deprecatedWarning("parentDirectory")
        self parentDirectory
    )

    //doc File thisSourceFile Returns the File of the sender's code.
    thisSourceFile := method(File with(call message label))

    //doc File exitStatus The status of a command opened with popen, after close.
    exitStatus := nil

    //doc File termSignal The signal that ended a command opened with popen, after close.
    termSignal := nil
)

// Streaming: chunk by chunk into anything that understands write.

File do(
    //doc File streamReadSize The size of a chunk in bytes.
    streamReadSize := 65536

    //doc File streamDestination The object that startStreaming writes to.
    streamDestination ::= nil

    //doc File startStreaming Streams the file to the streamDestination.
    startStreaming := method(self streamTo(streamDestination))

    //doc File streamTo(anObject) Writes the file to anObject, and lets other coroutines run after each chunk.
    streamTo := method(destination, self streamChunks(destination, true))

    //doc File streamToWithoutYielding(anObject) Writes the file to anObject.
    streamToWithoutYielding := method(destination, self streamChunks(destination, false))

    streamChunks := method(destination, isYielding,
        chunk := Sequence clone
        self open
        while(self isAtEnd not,
            self readToBufferLength(chunk empty, streamReadSize)
            destination write(chunk)
            if(isYielding, yield)
        )
    )

    //doc File copyToPath(path) Copies the file, and lets other coroutines run meanwhile. Returns self.
    copyToPath := method(path, self copyChunks(path, true))

    //doc File copyToPathWithoutYielding(path) Copies the file. Returns self.
    copyToPathWithoutYielding := method(path, self copyChunks(path, false))

    copyChunks := method(path, isYielding,
        destination := File with(path) open
        self streamChunks(destination, isYielding)
        destination close
        self close
        self
    )
)

// Files of code.

Object do(
    //doc Object doFile(path) Evaluates the code in the file, with the receiver as its target. Returns the value of the last expression.
    doFile := method(path, self doString(File with(path) contents, path))
)
