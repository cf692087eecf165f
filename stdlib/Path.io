// Path: names of files, as text; nothing here touches a file.

//metadoc Path description Names of files and directories.
Path := Object clone do(
    isWindows := method(
        if(System isAvailable not, return false)
        platform := System platform asLowercase
        platform containsSeq("windows") or(platform containsSeq("cygwin")) or(platform containsSeq("mingw"))
    )

    //doc Path hasDriveLetters Returns true on systems whose absolute paths may start with a drive letter.
    hasDriveLetters := method(isWindows)

    //doc Path listSeparator Returns the character between the paths of an environment variable.
    listSeparator := method(if(isWindows, ";", ":"))

    //doc Path homePath Returns the home directory of the user.
    homePath := method(System getEnvironmentVariable(if(isWindows, "UserProfile", "HOME")))

    //doc Path with(part1, part2, ...) Returns the parts, as far as they are not nil, joined with single slashes.
    with := method(
        path := Sequence clone
        call evalArgs foreach(part, if(part isNil not, path appendPathSeq(part)))
        path asSymbol
    )

    //doc Path isPathAbsolute(path) Returns true if the path does not depend on the current directory.
    isPathAbsolute := method(path,
        if(path isNil or(path size == 0), return false)
        if(path beginsWithSeq("/"), return true)
        hasDriveLetters and(
            path beginsWithSeq("\\") or(path at(0) isLetter and(path exSlice(1, 2) == ":"))
        )
    )

    //doc Path absolute(path) Returns the path with ~ expanded, below the current directory if it was relative.
    absolute := method(path,
        expanded := path stringByExpandingTilde
        if(isPathAbsolute(expanded), expanded, with(Directory currentWorkingDirectory, expanded))
    )

    //doc Path thisSourceFilePath Returns the absolute path of the file of the sender.
    thisSourceFilePath := method(absolute(call message label))
)

//doc Core tildeExpandsTo Returns what ~ means in a path: the home directory of the user.
tildeExpandsTo := method(Path homePath)
