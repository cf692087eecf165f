//! Statements: assignments, loops, stops, exceptions, coroutines, and changes of the program itself.

use super::{EDITS, MESSAGES, Place, Writer};

/// Names that a message may be given: control, arithmetic, methods, variables.
const MESSAGE_NAMES: &[&str] = &[
    "+",
    "-",
    "*",
    "<",
    "==",
    "if",
    "while",
    "for",
    "loop",
    "list",
    "trace",
    "return",
    "break",
    "continue",
    "m0",
    "m1",
    "a",
    "x",
    "i",
    "self",
    "",
    "setSlot",
    "updateSlot",
    "foreach",
    "repeat",
    "nowhere",
    "call",
    "block",
    "method",
    "at",
];

/// Definitions that give built-in names another meaning, or their own again.
const MEANINGS: &[&str] = &[
    "Number setSlot(\"+\", method(n, 7))",
    "Number setSlot(\"-\", method(n, 1))",
    "Number setSlot(\"<\", method(n, false))",
    "Number setSlot(\"==\", method(n, true))",
    "Number setSlot(\"repeat\", method(n, 8))",
    "Number removeSlot(\"*\")",
    "Number setSlot(\"a\", 21)",
    "Object setSlot(\"+\", method(n, 17))",
    "Object setSlot(\"if\", method(p, q, 5))",
    "Object setSlot(\"s\", 12)",
    "Locals setSlot(\"if\", method(p, q, r, 6))",
    "Locals setSlot(\"for\", method(p, 5))",
    "Locals setSlot(\"while\", method(p, 4))",
    "Locals setSlot(\"list\", method(p, 42))",
    "Locals setSlot(\"a\", 31)",
    "Locals setSlot(\"m0\", method(p, 32))",
    "Locals setSlot(\"return\", method(p, 33))",
    "Locals removeSlot(\"loop\")",
    "Locals removeSlot(\"setSlot\")",
    "Lobby setSlot(\"if\", method(p, q, 34))",
    "Lobby setSlot(\"for\", method(p, q, 35))",
    "List setSlot(\"foreach\", method(p, 3))",
    "List setSlot(\"at\", method(p, 3))",
    "List setSlot(\"size\", 2)",
    "o0 setSlot(\"+\", method(n, 13))",
    "o0 setSlot(\"updateSlot\", method(n, v, 14))",
    "o1 setSlot(\"setSlot\", method(n, v, 15))",
    "o0 setSlot(\"if\", method(p, 16))",
    "o1 setSlot(\"forward\", method(call message name))",
    "Number setSlot(\"+\", Number getSlot(\"-\"))",
    "Number removeSlot(\"<\")",
    "Number setSlot(\">\", 9)",
    "Number setSlot(\"forward\", method(call message name))",
    "Object setSlot(\"-\", method(n, 18))",
    "Object setSlot(\"setSlot\", method(n, v, 19))",
    "Object removeSlot(\"foreach\")",
    "Locals setSlot(\"updateSlot\", method(n, v, 36))",
    "Locals setSlot(\"break\", method(p, 37))",
    "Locals setSlot(\"\", method(p, 38))",
    "Locals setSlot(\"b\", method(39))",
    "Locals removeSlot(\"if\")",
    "Locals removeSlot(\"for\")",
    "Locals removeSlot(\"updateSlot\")",
    "Lobby setSlot(\"while\", method(p, 40))",
    "Lobby setSlot(\"setSlot\", method(n, v, 41))",
    "Lobby setSlot(\"list\", method(43))",
    "List setSlot(\"append\", method(p, self))",
    "List removeSlot(\"foreach\")",
    "Block setSlot(\"call\", method(p, 44))",
    "Sequence setSlot(\"..\", method(p, \"cat\"))",
];

impl Writer {
    pub fn statement(&mut self, place: Place) -> String {
        if self.random.chance(self.wild) {
            return self.edit();
        }
        let depth = place.depth;
        if depth == 0 {
            return format!("trace({})", self.leaf());
        }
        let inner = place.deeper();
        match self.random.below(24) {
            0..=3 => self.assignment(depth),
            4 | 5 => format!("trace({})", self.expression(depth)),
            6..=8 => {
                let (condition, one, other) =
                    (self.condition(depth - 1), self.statements(inner), self.statements(inner));
                format!("if({condition}, {one}, {other})")
            }
            9 => format!("if({}, {})", self.condition(depth - 1), self.statements(inner)),
            10 => {
                format!("if({}) then({}) else({})", self.condition(1), self.statements(inner), self.statements(inner))
            }
            11..=15 => self.loop_(inner),
            16 | 17 => self.stop(place),
            18 => self.exception(inner),
            19 => self.coroutine(inner),
            20 => format!("({})", self.statements(inner)),
            21 => format!("{} do({})", self.object(), self.assignment(1)),
            _ => self.expression(depth),
        }
    }

    fn assignment(&mut self, depth: usize) -> String {
        let (name, value) = (self.name(), self.expression(depth));
        match self.random.below(10) {
            0..=3 => format!("{name} := {value}"),
            4 | 5 => format!("{name} = {value}"),
            6 => format!("{} := {name} := {value}", self.name()),
            7 => format!("self {name} := {value}"),
            8 => format!("{} {} = {value}", self.object(), self.random.pick(&["s", "t", "a"])),
            _ => format!("{} {} := {value}", self.object(), self.random.pick(&["s", "t", "a"])),
        }
    }

    pub fn loop_(&mut self, place: Place) -> String {
        let body = self.statements(place.looping());
        let (name, other) = (self.name(), self.name());
        let end = self.random.below(5);
        match self.random.below(14) {
            0..=2 => format!("for({name}, {}, {end}, {body})", self.random.below(3)),
            3 => format!("for({name}, {end}, 0, -1, {body})"),
            4 => format!("for({name}, {}, {}, {body})", self.expression(1), self.leaf()),
            5 => format!("({name} := 0; while({name} < {end}, {name} = {name} + 1; {body}))"),
            6 => format!("while({}, {body}; break)", self.condition(1)),
            7 => format!("({name} := 0; loop({name} = {name} + 1; if({name} > {end}, break({other})); {body}))"),
            8 => format!("{end} repeat({body})"),
            9 => format!("{end} repeat({name}, {body})"),
            10 => format!("ls foreach({name}, {body})"),
            11 => format!("ls foreach({name}, {other}, {body})"),
            12 => format!("list(1, {}, 3) foreach({name}, {body})", self.leaf()),
            _ => format!("ls foreach({name}, if(ls size < 7, ls append({end})); {body})"),
        }
    }

    fn stop(&mut self, place: Place) -> String {
        let value = self.expression(1);
        let stops: &[&str] = if place.in_loop { &["break", "continue", "break", "return"] } else { &["return"] };
        let stop = self.random.pick(stops);
        let stop = match self.random.below(3) {
            0 => stop.to_string(),
            1 => format!("{stop}({value})"),
            _ if self.random.chance(50) => format!("{} := {stop}({value})", self.random.pick(&["a", "self x", "o1 s"])),
            _ => format!("return {value}"),
        };
        if self.random.chance(60) { format!("if({}, {stop})", self.condition(1)) } else { stop }
    }

    fn exception(&mut self, place: Place) -> String {
        match self.random.below(8) {
            0 => "Exception raise(\"boom\")".to_string(),
            1 => format!("try({})", self.statements(place)),
            2 => format!("e := try({}); e catch(Exception, trace(e error))", self.statements(place)),
            3 => format!("e := try({}); if(e, e showStack)", self.statements(place)),
            4 => format!("e := try({}); if(e, trace(e stackCalls, e caughtMessage name))", self.statements(place)),
            5 => format!("e := try({}); e catch(Nothing, trace(1)) pass", self.statements(place)),
            6 => format!("e := try(e := try({}); if(e, e pass)); if(e, trace(e error))", self.statements(place)),
            _ => format!("{} nowhere", self.leaf()),
        }
    }

    fn coroutine(&mut self, place: Place) -> String {
        match self.random.below(9) {
            0 => format!("coroDo({})", self.statements(place)),
            5 => format!("coroDoLater({})", self.statements(place)),
            6 => format!("co := coroFor({}); co resume", self.statements(place)),
            7 => format!("co := coroFor({}; yield; {}); co resume; yield", self.statements(place), self.leaf()),
            8 => format!("trace(o1 @m({}))", self.leaf()),
            1 | 2 => "yield".to_string(),
            3 => format!("@@{}({})", self.method_name(), self.leaf()),
            _ => format!("o1 @m({})", self.leaf()),
        }
    }

    // ---- changes

    /// A statement that changes the program, itself or through a method, while its callers wait.
    fn edit(&mut self) -> String {
        match self.random.below(5) {
            0..=2 => format!("ed{}", self.random.below(EDITS)),
            3 => {
                let message = format!("msg{}", self.random.below(MESSAGES));
                self.surgery(&message)
            }
            _ => self.change(),
        }
    }

    /// Something that is no longer what it was.
    pub fn change(&mut self) -> String {
        match self.random.below(12) {
            10 => {
                let (method, name) = (self.method_name(), self.name());
                let change = self.random.pick(&[
                    "setArgumentNames(list(\"a\", \"x\"))",
                    "setScope(o1)",
                    "setScope(nil)",
                    "setPassStops(true)",
                    "setIsActivatable(false)",
                ]);
                let change = if self.random.chance(40) {
                    format!("setMessage(message({name} + 1))")
                } else {
                    change.to_string()
                };
                format!("Lobby getSlot(\"{method}\") {change}")
            }
            11 => self.random.pick(&["self := o1", "self = o0", "call := 5", "Lobby removeSlot(\"o1\")"]).to_string(),
            0..=3 => {
                let message = self.message_of_method();
                self.surgery(&message)
            }
            4 | 5 => self.random.pick(MEANINGS).to_string(),
            6 => {
                let (method, body) = (self.method_name(), self.expression(2));
                format!("Lobby setSlot(\"{method}\", method({}, {body}))", self.name())
            }
            7 => format!(
                "Lobby {}",
                self.random.pick(&["removeSlot(\"m2\")", "setSlot(\"m1\", 5)", "removeSlot(\"a\")"])
            ),
            8 => self.random.pick(PROTOS).to_string(),
            _ => {
                let body = self.expression(2);
                format!("{} setSlot(\"m\", method(x, {body}))", self.random.pick(&["o0", "o1", "o2"]))
            }
        }
    }

    fn surgery(&mut self, message: &str) -> String {
        let (one, other) = (self.expression(1), self.expression(1));
        match self.random.below(9) {
            8 => format!("{message} setNext({message})"),
            0..=2 => format!("{message} setName(\"{}\")", self.random.pick(MESSAGE_NAMES)),
            3 => format!("{message} setNext(message({one}))"),
            4 => format!("{message} setNext(nil)"),
            5 => format!("{message} setArguments(list(message({one}), message({other})))"),
            6 => format!("{message} appendArg(message({one}))"),
            _ => format!("{message} {}", self.random.pick(&["setCachedResult(4)", "removeCachedResult"])),
        }
    }
}

const PROTOS: &[&str] = &[
    "o1 setProto(o2)",
    "o1 setProto(Object)",
    "o0 appendProto(o2)",
    "o1 appendProto(o2)",
    "o2 setProto(o0)",
    "o0 removeSlot(\"s\")",
    "o1 removeSlot(\"s\")",
    "o0 removeSlot(\"m\")",
    "o1 removeSlot(\"m\")",
    "o2 setSlot(\"s\", 6)",
    "o0 setSlot(\"t\", method(8))",
    "o0 setProtos(list(o2, Object))",
    "o1 removeAllProtos",
    "o2 setProtos(list(o0, o1, Lobby))",
    "Lobby appendProto(o1)",
    "Locals appendProto(o2)",
    "Number appendProto(o0)",
    "List appendProto(o1)",
    "o1 setIsActivatable(true)",
];
