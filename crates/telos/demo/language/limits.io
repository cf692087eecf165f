//! Confined
//! Fuel, memory and depth are limited exactly: this loop stops at the same message every time.
//! Nothing it does can reach a file or a clock that was not handed in, and the machine stays usable.

rounds := 0
loop(rounds = rounds + 1)
