# Text of the error for an unknown message, by kind of receiver.
try(Object clone nope) error println
try(3 nope) error println
try("s" nope) error println
try(list nope) error println
try(nil nope) error println
try(true nope) error println
try(nope) error println
Account := Object clone
try(Account nope) error println
try(Account clone nope(1, 2)) error println
