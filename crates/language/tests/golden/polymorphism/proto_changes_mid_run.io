# Replacing a method in a proto takes effect in code that has already run.
Base := Object clone do(hi := method("old hi"))
obj := Base clone
go := method(obj hi)
go println
Base hi := method("new hi")
go println
obj hi := "own hi"
go println
obj removeSlot("hi")
go println
Base removeSlot("hi")
Base hi := 42
go println
