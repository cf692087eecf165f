# foreachSlot walks the slots of locals and of maps as it does those of any object: by name, and not what a map holds.
walk := method(b, a,
    c := 3
    names := List clone
    thisLocalContext foreachSlot(name, value, names append(name))
    names
)
walk(1, 2) select(size == 1) println
m := Map clone
m atPut("extra", "inside")
m extra := "slot"
m foreachSlot(name, value, writeln(name, " ", value))
