// Cambrian: how an image wakes up.
//
// It comes with the program and is no part of any image. A machine of its own runs it, with the
// language and without its library, and with one capability, Embryo, whose steps are in Rust.
// A step that cannot be done raises: then the image stays asleep, its files are as they were, and
// whoever wanted it is told why. `telos status` shows what the steps said.

Cambrian := Object clone do(

    wake := method(
        if(Embryo isThere, nil, Embryo make) // The directory has no image: files without a commit.
        Embryo open                          // Takes the lock: nobody else has this image.
        Embryo recover                       // The newest state that was flushed; the format must be ours.
        Embryo replay                        // What was committed after it, from the log.
        if(Embryo isUnborn, Embryo genesis, Embryo check)
        greet
    )

    // The root object is told that it is awake, in a transaction of its own. Whatever it makes of
    // that, the image is up from here on, to be looked at and mended.
    greet := method(
        failure := if(Embryo find("Telos"), Embryo awake, "there is no Telos in the Lobby")
        if(failure, Embryo record(failure))
    )
)

Cambrian wake
