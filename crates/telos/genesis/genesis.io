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

    // Sent each time the image wakes up, as a transaction of its own. Put here what it is to do then.
    awake := method(
        wakings = wakings + 1
        self
    )
)

// Without a clock this raises, and nothing is written.
try(Telos born = Date now)

Telos
