// Verification is loaded into Core when it is first named, from anywhere, and is the same from then on.
(Protos Core hasLocalSlot("Verification")) println
Thing := Object clone do(asked := method(Verification type))
Thing asked println
(Protos Core hasLocalSlot("Verification")) println
(Lobby hasLocalSlot("Verification")) println
(Thing hasLocalSlot("Verification")) println
(Verification isIdenticalTo(Protos Core getSlot("Verification"))) println
Importer librarySource("List") println
(Importer librarySource("Verification") size > 1000) println
try(Importer librarySource(1)) error println
try(Verifications) error println
