# merge makes a new map, mergeInPlace changes the receiver; reverseMap swaps.
a := Map with("x", 1, "y", 2)
b := Map with("y", 20, "z", 30)
c := a merge(b)
c keys sort map(k, k .. c at(k)) println
a keys sort println
a mergeInPlace(b)
a keys sort map(k, k .. a at(k)) println
r := Map with("one", "1", "two", "2") reverseMap
r at("1") println
r at("2") println
