//! Many things at once
//! Any object is an actor: @ sends a message to be answered later, and returns a future.

Worker := Object clone do(
    double := method(number, yield; "doubling #{number}" interpolate println; number * 2)
)

futures := list(1, 2, 3) map(number, Worker clone @double(number))
"all sent, none answered" println
futures map(future, future + 0) println
