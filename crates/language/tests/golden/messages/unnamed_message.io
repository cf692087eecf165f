# A fresh Message has a placeholder name and evaluates its single argument like parentheses.
Message clone name println
Message clone println
message((4 + 5)) doInContext(Lobby) println
e := message(()) 
e println
