# A block argument hides an outer local of the same name and leaves it alone.
x := "outer"
b := block(x, x = x .. "!"; x)
b call("inner") println
x println
f := method(x, block(x, x) call("deepest") .. " " .. x)
f("middle") println
