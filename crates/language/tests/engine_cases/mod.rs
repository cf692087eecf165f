//! Programs that could make the engines differ: each is about one thing that a compiler can get wrong.

/// Small programs, and regressions with the story of each.
pub const SNIPPETS: &[&str] = &[
    // Found by fuzzing: a frame that left its code among the arguments of a called block evaluated them twice.
    "a := 1; m := method(x, (for(a, (f := block(v, x); f call(self a)), 7, 6))); trace(m(5))",
    // Fuel and state where branches meet.
    "m := method(x, y := if(x > 1, x + 1, x); z := if(y, (y), 3); trace(y, z); z); m(1); m(2); m(nil)",
    "m := method(x, if(x, (x + 1), (x := 5)); if(x == 5, 1); if(nil, 1, 2) + 3); trace(m(1), m(nil))",
    "m := method(x, if(if(x > 1, x < 5, x == 0), \"in\", if(x < 0) then(return 9) else(8))); for(i, -2, 6, trace(m(i)))",
    "m := method(x, y, if(x and(y), trace(1), trace(2)); if(x or(y), trace(3)); x not); m(1, nil); m(nil, 1)",
    // Break and continue with values, in loops in loops.
    "m := method(for(i, 1, 5, r := for(j, 1, 5, if(j == i, break(j * 10)); if(j > 3, continue(7)); j); trace(i, r))); trace(m)",
    "m := method(i := 0; r := while(i < 9, i = i + 1; if(i == 4, continue); if(i > 6, break(i)); i); trace(r); r); trace(m)",
    "m := method(i := 0; loop(i = i + 1; if(i < 3, continue); if(i == 7, break(i)))); trace(m)",
    "m := method(5 repeat(i, if(i == 1, continue); if(i == 3, break(\"out\")); trace(i))); trace(m)",
    "m := method(list(1, 2, 3) foreach(i, v, if(v == 2, continue(9)); trace(i, v); v)); trace(m)",
    "m := method(while(true, for(i, 1, 3, if(i == 2, break)); break(i)); i); trace(m)",
    // A stop on its way out still lets an assignment finish.
    "m := method(x := for(i, 1, 3, y := break(i + 4)); trace(x, y); self z := return 8); trace(m, z)",
    "m := method(for(i, 1, 3, self w := if(i == 2, break(5), continue(6)))); trace(m, w)",
    "o := Object clone; m := method(o s := if(true, return(4))); trace(m, o s)",
    // Loops whose bounds are no numbers, or are not what they seem.
    "m := method(a, b, for(i, a, b, trace(i))); m(1, 3); e := try(m(nil, 3)); trace(e error); e := try(m(1, \"x\")); trace(e error)",
    "m := method(for(i, 1, 3, nil, trace(i))); e := try(m); trace(e error)",
    "m := method(n, for(i, 3, 1, n, trace(i); i = 0)); m(-1); m(1); m(-0.5)",
    "m := method(n, n repeat(trace(n))); m(2); m(0); m(-1); m(1.5); e := try(m(nil)); trace(e error)",
    // A list that changes while it is walked.
    "m := method(l, l foreach(i, v, if(l size < 6, l append(v * 2)); if(v == 2, l removeFirst); trace(i, v))); m(list(1, 2, 3))",
    "m := method(l, l foreach(v, trace(v))); m(list(1)); m(\"ab\"); m(Map clone atPut(\"k\", 1)); e := try(m(3)); trace(e error)",
    // Return in loops in groups.
    "m := method(x, (for(i, 1, 9, (if(i == x, return(i * 2))))); -1); trace(m(3), m(20))",
    "m := method(list(1, 2) foreach(v, 3 repeat(i, loop(if(i == 1, return(list(v, i)), break))))); trace(m)",
    // Chains of assignments, and values that are used after they were assigned.
    "f := method(x, block(x = x + 1)); m := method(a := b := f(3); a call; c := b call; trace(c)); m",
    "o := Object clone do(s := 1; t := 2); m := method((o s = o t) foo(o s, 5)); Number foo := method(a, b, trace(self, a, b)); m",
    "m := method(b, y := 1; c := (y = b) foreach(v, trace(v))); m(list(4, 5)); e := try(m(3)); trace(e error)",
    "m := method(a, (a := 1) + (a := 2) * (a = a + 1)); trace(m(0))",
    "m := method(a, a + (a := 5) + a); trace(m(1))",
    // Closures that keep their locals.
    "m := method(l := list(); for(i, 1, 3, x := i; l append(block(x = x + i))); l map(b, b call)); trace(m)",
    "m := method(n, block(n = n + 1; n)); a := m(1); b := m(10); a call; trace(a call, b call)",
    "m := method(x, f := block(y, x = y); f call(5); x + 1); trace(m(1))",
    // Code that changes while it runs.
    "m := method(x, x + 1); trace(m(1)); getSlot(\"m\") message next setName(\"*\"); trace(m(5))",
    "ed := method(msg setName(\"-\")); m := method(x, y := ed; x + 1); msg := getSlot(\"m\") message next next next; trace(m(5), m(5))",
    "m := method(x, msg setName(\"*\"); x + 4); msg := getSlot(\"m\") message next next next; trace(m(5), m(5))",
    "m := method(x, msg setArguments(list(message(9))); x + 4); msg := getSlot(\"m\") message next next next; trace(m(5), m(5))",
    "m := method(for(i, 1, 4, if(i == 2, msg setNext(message(trace(8)))); trace(i))); msg := getSlot(\"m\") message argAt(3) argAt(0); trace(m)",
    "m := method(x, if(x > 2, self m := method(y, \"new\")); trace(x); if(x < 5, m(x + 1), \"old\")); trace(m(1))",
    "m := method(x, Lobby removeSlot(\"m\"); x + 1); trace(m(1)); e := try(m(1)); trace(e error)",
    // Meanings that change while they are used: what is under way keeps the old one.
    "f := method(Number setSlot(\"+\", method(n, 42)); 1); m := method(a, a + f); trace(m(1), m(1))",
    "f := method(Locals setSlot(\"if\", method(p, q, \"mine\")); true); m := method(if(f, 1, 2)); trace(m, m)",
    "f := method(Locals setSlot(\"setSlot\", method(n, v, \"mine\")); 1); m := method(a := f; b := 2; a); trace(m, m)",
    "o := Object clone do(s := 1); f := method(o setSlot(\"updateSlot\", method(n, v, 14)); 3); m := method(o s = f; o s = 4; o s); trace(m, m)",
    "p := Object clone do(g := method(x, x)); o := p clone; f := method(o setSlot(\"g\", method(x, x * 100)); 2); m := method(o g(f)); trace(m, m)",
    "m := method(2 repeat(Number setSlot(\"repeat\", method(7)); trace(1)); 3 repeat(trace(2))); trace(m)",
    "a0 := 1; m := method(a0); trace(m); Locals setSlot(\"a0\", 2); trace(m); Locals removeSlot(\"a0\"); trace(m); Locals setSlot(\"a0\", 3); trace(m)",
    "or := 5; m := method(or(trace(1), 2)); trace(m); o := Object clone do(s := 7); n := method(o s(1, 2)); trace(n)",
    // Exceptions through code, with a handler in the caller.
    "g := method(x, if(x == 0, Exception raise(\"zero\")); g(x - 1) + 1); m := method(e := try(g(5)); e error); trace(m)",
    "g := method(list(1, 2) foreach(v, v nowhere)); m := method(for(i, 1, 2, e := try(g); trace(i, e error))); m",
    "g := method(x, (x foo) bar(x + 1)); m := method(a := g(1); a); m",
    "g := method(1 + (nil + 2)); m := method(if(g, 1)); m",
    // Coroutines that switch in the middle of code.
    "f := method(x, for(i, 1, 3, trace(x, i); yield)); m := method(@@f(\"a\"); f(\"b\")); m",
    "f := method(x, yield; x * 2); m := method(r := (o @f(4)) + f(1); trace(r)); o := Object clone do(f := method(x, yield; x + 100)); m",
    // Depth, and what is caught of it.
    "m := method(x, m(x + 1) + 1); e := try(m(0)); trace(e error); f := method(x, if(x == 0, 0, f(x - 1) + 1)); trace(f(50))",
    // Calls: who asks for them, and names that shadow.
    "m := method(call argCount + call evalArgAt(1)); f := method(x, m(1, x + 2)); trace(f(5))",
    "g := method(call sender a = 9); m := method(a := 1; g; a); trace(m)",
    "m := method(list, list); trace(m(3)); f := method(if, while, if + while); trace(f(1, 2))",
    "m := method(f, f(3) + f(4)); trace(m(method(x, x * 2)))",
    "m := method(x, g := method(y, y + x); e := try(g(1)); trace(e error); x := 4; g := block(y, y + x); g call(1)); trace(m(2))",
    "o := Object clone do(m := method(x, x + 1)); p := o clone do(m := method(x, resend + super(m(x * 10)))); trace(p m(2))",
    "m := method(self v1 := 3; v1 = v1 + 1; v1); trace(m, v1); o := Object clone; o m := getSlot(\"m\"); trace(o m, o v1, v1)",
    "m := method(x, x y := 5; x y = x y + 1; x y); trace(m(Object clone)); e := try(m(3)); trace(e error); e := try(m(\"a\")); trace(e error)",
    // One body under two lists of names.
    "a := method(x, y, x - y); b := method(y, x, nil) setMessage(getSlot(\"a\") message); for(i, 1, 2, trace(a(5, 3), b(5, 3)))",
    "a := method(x, x + 1); trace(a(1)); getSlot(\"a\") setArgumentNames(list(\"y\", \"x\")); trace(a(1, 7))",
    // Code gave a symbol a new value for a slot that it only inherits, which the tree refuses.
    "i := clone; m := method(x = i); trace(try(getSlot(\"m\") performOn(\"t\")) error)",
    "x := 1; m := method(x = 2); getSlot(\"m\") performOn(\"t\"); trace(try(getSlot(\"m\") performOn(\"t\")) error)",
    // The context of a map has locals for a proto, whose updateSlot sent it updateSlot, for ever.
    "m := method(ls, ls map(x := 0; x = self; y = 3; x)); y := 1; trace(m(list(1, 2)), y)",
    "m := method(x := 5; r := list(1, 2) map(v, x = x + v; z := 1; z = z + x; z); trace(r, x)); m",
    "m := method(list(1) map(v, nowhere = v)); e := try(m); trace(e error)",
    // Of two arguments with one name, code took the first.
    "m := method(c, c, c); trace(m(1, 2), m(1))",
    // The outer assignment took the sum away from the inner one.
    "m := method(a := b := 2 + 3; trace(a, b)); m",
    // Interpolation asked for its sender after it had paid for its work, and paid twice.
    "m := method(x, \"a#{x}method(b#{2}c\" interpolate); trace(m(1))",
    // The tree named `call` twice in a trace, and cut what follows it off the message that the block was given.
    "m := method(b, b call); m(block(nowhere))",
    "m := method(b, b call type); trace(m(block(call message next name))); trace(block(call message next name) call type)",
    // A slot was written into locals whose receiver should have had it, once Locals had no setSlot of their own.
    "Locals removeSlot(\"setSlot\"); m := method(for(j, 1, 4, y := j; trace(getSlot(\"y\"), Lobby hasSlot(\"y\")))); m; m",
    // A block that code called said that it was found in Block, not in its sender.
    "l := list; m := method(if(l size > 0, l last call); l append(block(x = super(m1)))); m; e := try(m); trace(e error)",
    // What such a block was sent to was no value at all in the calls of an exception.
    "f := method(b call); b := block(nowhere); e := try(f); trace(e stackCalls); e showStack; f",
    // A comparison that became a jump was not assigned any more.
    "m := method(i, if(v := i < 4, v, trace(v))); trace(m(1), m(5)); n := method(i, while(v := i < 4, i = i + 1); v); trace(n(1))",
    // An argument made the unit go away of what was about to be called with it.
    "o := clone; o m := method(x, x != 1); m := method(o m(o m(ed))); ed := method(getSlot(\"o\") getSlot(\"m\") message setName(\"x\"); 3); trace(m, m)",
    // A block without arguments had them evaluated once the site had met a block with some.
    "m := method(l, l foreach(b, b call(trace(5)))); l := list(block(x, x), block(1), block(x, x), block(2)); m(l); l map(b, b call(trace(6)))",
    // A call that was kept beyond its method had no sender any more.
    "m := method(x, self saved := getSlot(\"call\"); block(x); x); n := method(y, m(y) + 1); trace(n(1), saved sender type)",
    // The value was evaluated before anybody looked whether the receiver can be assigned to, and by whom.
    "o := Object clone do(s := 1; setSlot(\"updateSlot\", method(14))); m := method(o s = trace(5)); trace(m, m); p := Object clone do(s := 1); \
     n := method(p s = f); f := method(p removeAllProtos; trace(6)); trace(n, p s); e := try(n); trace(e error)",
    // A loop that is evaluated in an object took break and continue for what they were at first.
    "break := method(7); e := try(for(i, 1, 3, r := break; trace(i, r))); m := method(Locals setSlot(\"continue\", 8); call; for(i, 1, 2, trace(continue))); m",
    // A semicolon that follows itself never came to an end, at no cost.
    "m := method(x; y); s := getSlot(\"m\") message next; s setNext(s); x := 1; m",
    "m := method(x; y); s := getSlot(\"m\") message next; s setNext(message(;) setNext(message(z))); x := 1; z := 3; trace(m, m)",
    // The compiler did not come to an end with a message that follows itself.
    "m := method(x, x + 1); getSlot(\"m\") message next setNext(getSlot(\"m\") message next); n := method(method(1 + 2)); m(1)",
    "b := message(a + 1); b next setNext(b next); a := 1; e := try(for(i, 1, 3, doMessage(b))); trace(e error)",
    // A loop that was defined anew as what it was began itself for ever.
    "Number setSlot(\"repeat\", Number getSlot(\"repeat\")); n := 0; 3 repeat(n = n + 1); trace(n); m := method(3 repeat(n = n + 1)); m; trace(n)",
    "Locals setSlot(\"while\", Locals getSlot(\"while\")); n := 0; while(n < 3, n = n + 1); trace(n)",
    "List setSlot(\"foreach\", List getSlot(\"foreach\")); n := 0; list(1, 2) foreach(x, n = n + x); trace(n)",
    // Lookups along a lineage that is long enough to cost fuel: sends, assignments, loops and what is built in.
    "o := Object clone do(at := method(x, x); v := 1); m := method(o, o at(2) + o v); 40 repeat(o = o clone; trace(m(o)))",
    "o := Object clone do(v := 1); m := method(o, o v = o v + 1; o w := 2; o w := o w + 1; o v); 40 repeat(o = o clone; trace(m(o)))",
    "o := Object clone do(v := 1; m := method(v = v + 1; x := v; if(x > 3, self y := x; y, v))); 40 repeat(o = o clone; trace(o m))",
    "o := Object clone do(v := 1); 40 repeat(o = o clone; trace(o do(v = v + 1; if(v > 5, v = 2); for(i, 1, 2, v = v + i)) v))",
    "l := list(1, 2); m := method(l, s := 0; l foreach(x, s = s + x); s); 40 repeat(l = l clone; trace(m(l)))",
    "l := list(1, 2); 40 repeat(l = l clone; s := 0; l foreach(x, s = s + x); trace(s))",
    "b := block(x, x); m := method(b, b call(3)); 40 repeat(b = b clone; trace(m(getSlot(\"b\"))))",
    "o := Object clone do(forward := method(call message name)); m := method(o, o foo); 40 repeat(o = o clone; trace(m(o)))",
    "f := method(n, b, x := n; if(n == 0, b call, f(n - 1, block(y := b call; x + y)))); trace(f(20, block(1)))",
    "f := method(n, s, doString(\"x := \" .. n .. \"; block(s; top) setScope(thisContext)\")); top := 5; trace(f(1, 2) call)",
    "deep := \"top = top + 1\"; 20 repeat(deep = \"block(\" .. deep .. \") call\"); top := 5; doString(deep); m := method(doString(deep)); m; trace(top)",
];

/// Programs that exceed what a unit of code can be.
pub fn big() -> Vec<(String, String)> {
    let sum: Vec<String> = (0..300).map(|index| format!("f({index}")).collect();
    let nested = format!("f := method(x, y, x); m := method({}, 1{}); trace(m)", sum.join(", "), ")".repeat(300));
    let locals: String = (0..300).map(|index| format!("v{index} := {index}; ")).collect();
    let many_locals = format!("m := method({locals} v0 + v299); trace(m)");
    let statements: String = (0..30_000).map(|index| format!("x = x + {index} % 7\n")).collect();
    let long = format!("m := method(x, {statements} x); trace(m(1))");
    let names: Vec<String> = (0..130).map(|index| format!("p{index}")).collect();
    let values: Vec<String> = (0..130).map(|index| format!("(x; {index})")).collect();
    let arguments =
        format!("f := method({}, p0 + p129); m := method(x, f({})); trace(m(1))", names.join(", "), values.join(", "));
    let groups = format!("m := method(x, {}x{}); trace(m(4))", "(1 + ".repeat(200), ")".repeat(200));
    let branches = format!("m := method(x, {}x{}); trace(m(4))", "if(x > 1, ".repeat(100), ", 2)".repeat(100));
    [
        ("nested", nested),
        ("locals", many_locals),
        ("long", long),
        ("arguments", arguments),
        ("groups", groups),
        ("branches", branches),
    ]
    .map(|(name, source)| (name.to_string(), source))
    .to_vec()
}
