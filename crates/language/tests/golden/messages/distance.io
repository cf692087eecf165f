// How far messages are from each other as trees: what is left when the common part is taken away.
distance := method(one, other, (Message fromString(one) distanceTo(Message fromString(other))) asString(0, 3) println)
distance("a b c", "a b c")
distance("a b c", "a\nb; c")           // the ends of expressions do not count
distance("a", "b")
distance("a b", "a c")
distance("balance * 0.1", "balance * 0.2")
distance("a(b(c))", "a(b(d))")
distance("a(b, c)", "a(c)")
distance("a(b, c)", "a(c, b)")         // only one of both in order
distance("a(b(c))", "b(c)")            // at another depth
distance("if(x, y, z)", "while(x, y)")
distance("", "a")
list("a b(c)", "x y z", "a(b(c, d) e, f) g") foreach(one,
    list("a b(d)", "y", "a(b(d) e, f) h") foreach(other,
        left := Message fromString(one)
        right := Message fromString(other)
        if(left distanceTo(right) != right distanceTo(left), "differs" println)
    )
)
// Code of any size takes bounded time: of 5000 messages the first 1024 are compared.
long := Message fromString("a " repeated(5000))
(long distanceTo(long)) println
(long distanceTo(Message fromString("a"))) asString(0, 4) println
wide := Message fromString("f(" .. "a," repeated(5000) .. "a)")
(wide distanceTo(wide)) println
deep := Message fromString("f(" repeated(2000) .. ")" repeated(2000))
(deep distanceTo(deep)) println
(deep distanceTo(long)) println
try(Message fromString("a") distanceTo("a")) error println
try(Message fromString("a") distanceTo) error println
try(Object performWithArgList("distanceTo", list(1))) error println
