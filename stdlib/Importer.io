// Importer: finds the file of a prototype that is named before it is defined.
//
// While it is on, Lobby forward is autoImportingForward, a primitive: it sends import for an unknown
// capitalised name, and raises for any other. Foo is loaded from Foo.io in one of the search paths.
// Parts of the library that few programs need come first. Without files, nothing else is found.

//metadoc Importer description Finds prototypes that are named before they are loaded.
Importer do(
    //doc Importer paths Returns the list of directories in which prototypes are looked for.
    paths := method(FileImporter directories)

    //doc Importer addSearchPath(path) Adds a directory. Returns self.
    addSearchPath := method(path,
        paths appendIfAbsent(Path absolute(path) asSymbol)
        self
    )

    //doc Importer removeSearchPath(path) Removes a directory. Returns self.
    removeSearchPath := method(path,
        paths remove(Path absolute(path) asSymbol)
        self
    )

    //metadoc FileImporter description Loads prototypes from source files.
    FileImporter := Object clone do(
        importsFrom := "file"

        //doc FileImporter directories The list of directories; "" is the current one.
        directories := list("")

        //doc FileImporter ioFileSuffixes The list of suffixes of source files.
        ioFileSuffixes ::= list("io")

        //doc FileImporter import(name, call) Loads the file of the named prototype. Returns false if there is none.
        import := method(name, originalCall,
            path := nil
            // Who may not look at files has nothing to import; that is no error.
            try(
                addLaunchDirectories
                path = findSource(name, Path absolute(originalCall message label))
            )
            if(path isNil, false, importPath(path))
        )

        addLaunchDirectories := method(
            if(System hasSlot("launchPath") and(System launchPath), directories appendIfAbsent(System launchPath))
            fromEnvironment := nil
            try(fromEnvironment = System getEnvironmentVariable("IOIMPORT"))
            if(fromEnvironment,
                fromEnvironment split(Path listSeparator) foreach(path,
                    directories appendIfAbsent(Path absolute(path) asSymbol)
                )
            )
        )

        // The file that asks is no answer: while it is being loaded, its own prototype is still unknown.
        findSource := method(name, askingPath,
            directories foreach(directory,
                ioFileSuffixes foreach(suffix,
                    path := Path with(directory, name .. "." .. suffix)
                    if(Path absolute(path) asLowercase == askingPath asLowercase, continue)
                    if(File with(path) exists, return path)
                )
            )
            nil
        )

        //doc FileImporter importPath(path) Evaluates the file in the Lobby. Returns true.
        importPath := method(path,
            Lobby doFile(path)
            didLoadPath(path)
            true
        )

        //doc FileImporter didLoadPath(path) Called after a file has been loaded; does nothing.
        didLoadPath := method(path, nil)
    )

    //metadoc LibraryImporter description Loads prototypes of the library that few programs need.
    LibraryImporter := Object clone do(
        importsFrom := "library"

        //doc LibraryImporter import(name) Loads the named prototype into Core. Returns false if the library has none.
        import := method(name,
            source := Importer librarySource(name)
            if(source isNil, return false)
            Protos Core doString(source, "library:" .. name .. ".io")
            true
        )
    )

    //doc Importer importers The list of objects that are asked, in order.
    importers := list(LibraryImporter, FileImporter)

    //doc Importer import(call) Returns the prototype that the call names, loaded by an importer; nil if none knows it.
    import := method(originalCall,
        name := originalCall message name
        importer := importers detect(candidate, candidate import(name, originalCall))
        if(importer isNil, return nil)
        if(Lobby hasSlot(name) not,
            Exception raiseFrom(originalCall, "Importer slot '" .. name .. "' missing after " .. importer importsFrom .. " load")
        )
        Lobby getSlot(name)
    )

    //doc Importer turnOn Lets unknown capitalised names be imported. Returns self.
    turnOn := method(
        Lobby forward := self getSlot("autoImportingForward")
        self
    )

    //doc Importer turnOff Makes unknown names an error again. Returns self.
    turnOff := method(
        Lobby removeSlot("forward")
        self
    )

    turnOn
)
