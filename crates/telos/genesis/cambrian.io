// Cambrian: how an image wakes up.
//
// It comes with the program and is no part of any image. A machine of its own runs it, with the
// language and without its library, and with one capability, Embryo, whose steps are in Rust.
// A step that cannot be done raises: then the image stays asleep, its files are as they were, and
// whoever wanted it is told why. `telos status` shows what the steps said.

Cambrian := Object clone do(
    wake := method(
        // Where the directory has no image, files are made, without a commit.
        if(Embryo isThere, nil, Embryo make)

        // Takes the lock: nobody else has this image.
        Embryo open

        // Finds the newest state that was flushed; its format must be ours.
        Embryo recover

        // Reads what was committed after it from the log.
        Embryo replay

        // The first commit of an image is its genesis; any other must have a root and what each
        // machine knows. It is never walked, so that a large one wakes up as fast as a small one.
        if(Embryo isUnborn, Embryo genesis, Embryo check)

        // Whoever mends an image that does harm when it wakes up lets it sleep.
        if(Embryo isAsleep, nil, greet)
    )

    // The root object is told that it is awake, in a transaction of its own. Whatever it makes of
    // that, the image is up from here on, to be looked at and mended.
    greet := method(
        failure := if(Embryo find("Telos"), Embryo awake, "there is no Telos in the Lobby")
        if(failure, Embryo record(failure))
    )
)

Cambrian wake
