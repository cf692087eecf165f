//! Exceptions
//! Raised anywhere, caught by kind; what is not caught names the place.

InsufficientFunds := Exception clone
withdraw := method(amount, if(amount > 100, InsufficientFunds raise("only 100 left")); amount)

withdraw(40) println
e := try(withdraw(400))
e catch(InsufficientFunds, ("declined: " .. e error) println)
