// Directory: what is in it, above it and below it.

//metadoc Directory description A directory: its path and what is in it.
Directory do(
    //doc Directory with(path) Returns a new Directory with the path.
    with := method(path, self clone setPath(path))

    //doc Directory localItems Returns a list of the files and directories in the receiver, without . and ..
    localItems := method(
        self items select(item, item name != "." and(item name != ".."))
    )

    //doc Directory files Returns a list of the files in the receiver.
    files := method(self items select(item, item type == "File"))

    //doc Directory fileNames Returns a list of the names of the files in the receiver.
    fileNames := method(self files mapInPlace(file, file name))

    //doc Directory directories Returns a list of the directories in the receiver.
    directories := method(self localItems select(item, item isKindOf(Directory)))

    //doc Directory filesWithExtension(extension) Returns a list of the files in the receiver with that extension.
    filesWithExtension := method(extension,
        suffix := if(extension containsSeq("."), extension, "." .. extension)
        self files select(file, file name endsWithSeq(suffix))
    )

    //doc Directory walk(item, expression) Evaluates the expression for each file and directory in the receiver, and then in the directories below it.
    walk := method(
        call delegateToMethod(self localItems, "map")
        self directories foreach(directory, call delegateTo(directory))
        nil
    )

    //doc Directory recursiveFilesOfTypes(suffixes) Returns a list of all files in and below the receiver whose names end with one of the suffixes.
    recursiveFilesOfTypes := method(suffixes,
        found := List clone
        self walk(item,
            if(item isKindOf(File) and(suffixes detect(suffix, item name endsWithSeq(suffix)) isNil not),
                found append(item)
            )
        )
        found
    )

    //doc Directory fileNamed(name) Returns a File for the name in the receiver, whether or not it exists.
    fileNamed := method(name, File with(Path with(self path, name)))

    //doc Directory directoryNamed(name) Returns a Directory for the name in the receiver, whether or not it exists.
    directoryNamed := method(name, Directory with(Path with(self path, name)))

    //doc Directory parentDirectory Returns the directory above, or nil for the current directory.
    parentDirectory := method(
        if(self path == ".", return nil)
        above := self path pathComponent
        Directory with(if(above == "", ".", above))
    )

    //doc Directory ancestorDirectories Returns a list of all directories above the receiver, the outermost first.
    ancestorDirectories := method(
        ancestors := List clone
        directory := self parentDirectory
        while(directory,
            ancestors prepend(directory)
            above := directory parentDirectory
            directory = if(above and(above path != directory path), above, nil)
        )
        ancestors
    )

    //doc Directory isAccessible Returns true if the contents can be read.
    isAccessible := method(try(self items) isNil)

    //doc Directory accessibleAncestors Returns a list of the directories above the receiver that can be read.
    accessibleAncestors := method(
        self ancestorDirectories select(directory, directory isAccessible)
    )

    //doc Directory createIfAbsent Creates the directory, and those above it, if they do not exist. Returns self.
    createIfAbsent := method(
        if(self exists, return self)
        above := self parentDirectory
        if(above, above createIfAbsent)
        self create
        self
    )

    //doc Directory remove Removes the directory and all that is in it. Returns self.
    remove := method(
        self localItems foreach(item, item remove)
        File with(self path) remove
        self
    )

    //doc Directory moveTo(path) Moves the directory and sets the path. Returns self.
    moveTo := method(newPath,
        File with(self path) moveTo(newPath)
        self setPath(newPath)
    )
)

// Names from earlier days.

Directory do(
    //doc Directory folders Deprecated: same as directories.
    folders := method(deprecatedWarning("directories()"); self directories)

    //doc Directory folderNamed(name) Deprecated: same as directoryNamed.
    folderNamed := method(name, deprecatedWarning("directoryNamed(name)"); self directoryNamed(name))

    //doc Directory parents Deprecated: same as ancestorDirectories.
    parents := method(deprecatedWarning("ancestorDirectories"); self ancestorDirectories)

    //doc Directory accessibleParents Deprecated: same as accessibleAncestors.
    accessibleParents := method(deprecatedWarning("accessibleAncestors"); self accessibleAncestors)

    //doc Directory folderNamedCreateIfAbsent(name) Deprecated: same as directoryNamed(name) createIfAbsent.
    folderNamedCreateIfAbsent := method(name,
        deprecatedWarning("directoryNamed(name) create")
        self directoryNamed(name) createIfAbsent
    )

    //doc Directory createFileNamed(name) Deprecated: same as fileNamed.
    createFileNamed := method(name,
        deprecatedWarning("fileNamed(name) create")
        self fileNamed(name)
    )
)
