// A transaction that an exception ends leaves nothing behind; one that ends otherwise is as if it were not there.
account := Object clone do(balance := 100; log := list())
move := method(amount,
    transaction(
        account balance = account balance - amount
        account log append(amount)
        if(account balance < 0, Exception raise("too little"))
        account balance
    )
)
move(30) println
e := try(move(200))
e error println
account balance println
account log println

// Locals are taken back too, and so is code.
count := method(
    n := 1
    try(transaction(n = 2; Exception raise("no")))
    n
)
count println
greet := method("hello")
try(transaction(
    getSlot("greet") setMessage(message("changed"))
    greet println
    Exception raise("no")
))
greet println
try(transaction(Number setSlot("+", method(other, 42)); (1 + 1) println; Exception raise("no")))
(1 + 1) println

// They nest: an inner one that fails leaves the outer one's writes.
x := 1
transaction(
    x = 2
    try(transaction(x = 3; Exception raise("inner")))
    x println
)
x println
try(transaction(x = 4; transaction(x = 5); Exception raise("outer")))
x println

// A stop is an end like any other.
early := method(transaction(x = 6; return 7); 8)
early println
x println
for(i, 1, 3, transaction(x = i; if(i == 2, break)))
x println

// Long lists and large maps.
long := list()
1000 repeat(i, long append(i))
table := Map clone
1000 repeat(i, table atPut(i asString, i))
try(transaction(
    long append(1) prepend(2) removeAt(500)
    long sortInPlace
    table atPut("new", 1) removeAt("7")
    table atPut("8", nil)
    Exception raise("no")
))
list(long size, long first, long last, table size, table at("7"), table at("8"), table hasKey("new")) println

// No other coroutine may run meanwhile: its writes would be taken back too.
other := Object clone do(work := method(1))
other @@work
try(transaction(yield)) error println
