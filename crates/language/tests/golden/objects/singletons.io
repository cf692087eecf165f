# nil, true and false are single objects; clone gives themselves.
nil clone println
true clone println
false clone println
nil type println
true type println
false type println
nil isTrue println
0 isTrue println
"" isTrue println
(nil == nil) println
(true == true) println
