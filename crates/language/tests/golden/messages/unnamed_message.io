# A fresh Message has a placeholder name and evaluates its single argument like parentheses.
Message clone name println
Message clone println
message((4 + 5)) doInContext(Lobby) println
# An empty pair of parentheses prints as such, so that it can be parsed again (upstream prints nothing).
e := message(())
e println
