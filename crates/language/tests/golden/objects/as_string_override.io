# print and println use asString; writeln, interpolate and .. too.
P := Object clone do(name := "p"; asString := method("<" .. name .. ">"))
P println
writeln(P, " and ", P clone do(name := "q"))
("is " .. P) println
"#{P}" interpolate println
list(P) size println
