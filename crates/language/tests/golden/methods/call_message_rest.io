# call message carries the rest of the chain that follows the call.
show := method(call message next)
r := show
r println
rest := method(call message next; "value")
rest size println
tail := method(call message next name)
tail asUppercase println
