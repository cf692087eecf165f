// Genesis: what a new image holds beside the language. Evaluated once, inside it, in its first
// transaction. From then on it is the image's own, to be changed like everything else.

Telos := Object clone do(
    //metadoc Telos description The root object of an image: what it is called, and what it does when it wakes up.

    //doc Telos name What the image calls itself.
    name := "Telos"

    //doc Telos born The Date of the first commit; nil if the image was born without a clock.
    born := nil

    //doc Telos wakings How often it has woken up.
    wakings := 0

    //doc Telos failures What went wrong on waking up, as text, the last one last; the last 100 at most.
    failures := list()

    //doc Telos awake Sent each time the image comes up, as a transaction of its own. Put here what it is to do then.
    awake := method(
        wakings = wakings + 1
        self
    )
)

// Without a clock this raises, and nothing is written.
try(Telos born = Date now)

Telos
