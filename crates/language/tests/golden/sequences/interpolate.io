# interpolate evaluates the code inside #{} in the sender's context or a given one.
name := "Io"
n := 3
"#{name} has #{n + 1} parts" interpolate println
"no marks" interpolate println
ctx := Object clone do(name := "ctx")
"#{name}" interpolate(ctx) println
f := method(local, "#{local}!" interpolate)
f("inside") println
"#{list(1, 2)} #{nil}" interpolate println
"a#{1}b#{2}c" interpolate println
s := "#{n}" asMutable
s interpolateInPlace println
