# Literals carry their value; names do not; it can be set and removed.
m := message(42)
m cachedResult println
m hasCachedResult println
message(foo) cachedResult println
message(foo) hasCachedResult println
message("s") cachedResult println
n := message(anything)
n setCachedResult(list(1, 2))
n doInContext(Lobby) println
n removeCachedResult
anything := "looked up"
n doInContext(Lobby) println
