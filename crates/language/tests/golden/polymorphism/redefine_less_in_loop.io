# A redefined < is used by the next comparison of a method that has run before.
smaller := method(a, b, if(a < b, a, b))
20 repeat(smaller(3, 4))
smaller(3, 4) println
keep := Number getSlot("<")
Number setSlot("<", method(o, (self - o) > 0))
smaller(3, 4) println
Number removeSlot("<")
smaller(3, 4) println
