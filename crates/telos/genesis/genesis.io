// Genesis: what a new image holds beside the language. Evaluated once, inside it, in its first
// transaction. From then on it is the image's own, to be changed like everything else.

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

    // Tries a block in a sealed fork of the image, and returns the Dream; nothing here is changed by it.
    dream := method(mandate, aBlock,
        Dream begin(mandate, getSlot("aBlock"))
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

    noteRejection := method(told,
        rejections append(told parseJson)
        while(rejections size > 1000, rejections removeFirst)
        self
    )

    // The whole cycle: a dream with a mandate, in which the block is called; when it is over it is judged, and merged or kept with
    // the reasons. Options are a Map, or nothing: "policy", and "block" if it is not given by itself.
    mergeEvolution := method(mandate, options,
        policy := nil
        body := getSlot("options")
        if(getSlot("options") isKindOf(Map),
            policy = options at("policy")
            body = options at("block")
        )
        if(getSlot("body") isKindOf(Block) not, Exception raise("mergeEvolution needs a block: what is to happen in the dream"))
        Dream begin(mandate, getSlot("body")) merge(policy)
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
