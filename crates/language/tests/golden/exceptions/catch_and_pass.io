# catch returns nil when the type matches, else the exception, so that catches chain.
MyError := Exception clone
Other := Exception clone
e := try(MyError raise("mine"))
r := e catch(Other, "other" println) catch(MyError, "caught mine" println) catch(Exception, "general" println)
r println
e2 := try(Exception raise("plain"))
(e2 catch(MyError, "wrong" println) == e2) println
nil catch(Exception, "never" println) println
