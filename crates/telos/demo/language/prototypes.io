//! There are no classes
//! An object is made by cloning another one and saying what is different.

Dog := Object clone
Dog sound := "woof"
Dog speak := method("#{self type} says #{sound}" interpolate println)

Puppy := Dog clone
Puppy sound = "yip"

Dog speak
Puppy speak
