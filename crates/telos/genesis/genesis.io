// Genesis: what a new image holds beside the language. Evaluated once, inside it, in its first
// transaction. From then on it is the image's own, to be changed like everything else.

//metadoc Telos description The root object of an image: what it does when it wakes up, its dreams, and what was merged, refused and left open. Only an image has it, not a program of telos run.
//doc Telos archive Returns sources of methods that were merged or rejected, the newest last; the last 256 at most.
//doc Telos awake Sent each time the image wakes up, as a transaction of its own. Put there what it is to do then.
//doc Telos born Returns the Date of the first commit, or nil if the image was born without a clock.
//doc Telos conflicts Returns a list of the places that two sides wrote to, and where somebody is to decide. See telos conflicts.
//doc Telos delivered Returns a list of what was done to the world outside after merges; the last 1000 at most.
//doc Telos dream(mandate, block) Tries the block, or that of a Map with "block", "timeout", "fuel" and "memory", in a sealed fork of the image, and returns the Dream. Begins when this transaction is committed, and changes nothing here.
//doc Telos failures Returns a list of what went wrong on waking up, as text, the last one last; the last 100 at most.
//doc Telos locks Returns a list of Maps, one for each thing that changes only with a person's token. Made and taken away by telos lock and telos unlock.
//doc Telos merges Returns a list of what was merged, the oldest first: each knows its dream, mandate, agent, policy and verdict.
//doc Telos mergeEvolution(mandate, options) Tries a block in a dream, has that judged when it is over, and merges it if nothing speaks against it. Options are the block, or a Map with "block", "policy", "tests" (a list of names of tests that the mandate asks for), "timeout" in seconds, "fuel" and "memory" in bytes. Returns the Dream.
//doc Telos name Returns what the image calls itself.
//doc Telos outbox Returns a list of files to be applied and calls to be made after merges. See telos outbox.
//doc Telos rejections Returns a list of the dreams that were judged and refused, the oldest first; the last 1000 at most.
//doc Telos rejectionsOf(object) Returns those rejections that would have changed the object.
//doc Telos verification Returns the Verification by which dreams are judged. Put a clone there to judge otherwise.
//doc Telos violations Returns a list of what merges left out because the whole would break a rule.
//doc Telos wakings Returns how often the image has woken up.

// The root object: what the image is called, and what it does when it wakes up.
Telos := Object clone do(
    // What the image calls itself.
    name := "Telos"

    // The Date of the first commit; nil if the image was born without a clock.
    born := nil

    // How often it has woken up.
    wakings := 0

    // What went wrong on waking up, as text, the last one last; the last 100 at most.
    failures := list()

    // Tries a block in a sealed fork of the image, and returns the Dream; nothing here is changed by it. In place of the block there may
    // be a Map: "block", and "timeout" in seconds, "fuel" and "memory" in bytes, which bound it.
    dream := method(mandate, options,
        Dream begin(mandate, getSlot("options"))
    )

    // By which a dream is judged before it becomes part of the image. Put a clone here to judge otherwise.
    verification := Verification

    // What was merged, the oldest first.
    merges := list()

    // Places that two sides wrote to, and where somebody is to decide.
    conflicts := list()

    // What a merge left out because the whole would break a rule.
    violations := list()

    // Calls to the world outside that are to be made, each under its key.
    outbox := list()

    // What changes only with a person's token, as Maps: "kind" (object, dream or whole), "name", "author", "cause" and "time", and of
    // an object "object". Made and taken away by `telos lock` and `telos unlock`, and by nothing else.
    locks := list()

    // Dreams that were judged and refused, the oldest first; the last 1000 at most.
    rejections := list()

    // Those of them that would have changed an object: what was tried with it, and why that was refused.
    rejectionsOf := method(object, rejections select(each, each touches(getSlot("object"))))

    // Sources of methods that were merged or rejected, the newest last; the last 256 at most.
    archive := list()

    noteRejection := method(rejection, sources,
        rejections append(rejection)
        while(rejections size > 1000, rejections removeFirst)
        sources foreach(source, archive appendIfAbsent(source))
        while(archive size > 256, archive removeFirst)
        self
    )

    // The whole cycle: a dream with a mandate, in which the block is called; when it is over it is judged, and merged or kept with
    // the reasons. In place of the block there may be a Map: that of `dream`, whose "timeout" is also that of judging, with "policy"
    // and "tests", names of tests that the mandate asks for.
    mergeEvolution := method(mandate, options,
        given := Dream optionsOf(getSlot("options"), list("block", "timeout", "fuel", "memory", "policy", "tests"))
        dream := Dream begin(mandate, Map with(
            "block", given at("block"), "timeout", given at("timeout"), "fuel", given at("fuel"), "memory", given at("memory")
        ))
        dream merge(given at("policy"), given at("tests"), given at("timeout"))
    )

    // Sent each time the image wakes up, as a transaction of its own. Put here what it is to do then.
    awake := method(
        wakings = wakings + 1
        self
    )
)

// Without a clock this raises, and nothing is written.
try(Telos born = Date now)

Telos
