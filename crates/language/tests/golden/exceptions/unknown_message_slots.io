# An exception says in slots of its own which message nobody answered, or which slot was not there to update.
e := try(list(1) frobnicate)
e error println
e unknownMessage println
e unknownTarget println
e := try(Unheard)
e unknownMessage println
(e unknownTarget == Lobby) println
try(nothing = 1) missingSlot println
try(Exception raise("other")) unknownMessage println
