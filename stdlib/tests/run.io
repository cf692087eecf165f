// Runs all tests of this directory, or only the files that are named as arguments.

if(System args size > 1,
    System args slice(1) foreach(name, Lobby doFile(Path with(System launchPath, name)))
    System exit(FileCollector run size)
,
    System exit(DirectoryCollector run size)
)
