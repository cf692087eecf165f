# A capitalised := names the type; a lower-case clone keeps its proto's type.
Dog := Object clone
Dog type println
rex := Dog clone
rex type println
Puppy := Dog clone
Puppy type println
Dog hasLocalSlot("type") println
rex hasLocalSlot("type") println
rex proto isIdenticalTo(Dog) println
