//! Expressions.

use super::{Place, Writer};

impl Writer {
    pub fn leaf(&mut self) -> String {
        match self.random.below(14) {
            0..=4 => self.random.below(6).to_string(),
            5..=9 => self.name().to_string(),
            10 => self.random.pick(&["nil", "true", "false", "self", "0.5", "-1", "\"t\"", "1e3", "o1"]).to_string(),
            11 => format!("{} {}", self.object(), self.random.pick(&["s", "t", "u", "a"])),
            12 => self.random.pick(&["ls size", "ls at(1)", "ls first", "mp at(\"k\")", "bs size"]).to_string(),
            _ => format!("{} {} {}", self.name(), self.operator(), self.random.below(5)),
        }
    }

    fn operator(&mut self) -> &'static str {
        self.random.pick(&["+", "-", "*", "/", "%", "+", "-", "<", ">", "<=", ">=", "==", "!="])
    }

    pub fn condition(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => self.expression(depth),
            _ => {
                let (left, right) = (self.expression(depth.saturating_sub(1)), self.leaf());
                format!("{left} {} {right}", self.random.pick(&["<", ">", "<=", ">=", "==", "!="]))
            }
        }
    }

    pub fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.random.below(36) {
            0..=2 => self.leaf(),
            3..=6 => {
                let (left, right) = (self.expression(depth), self.expression(depth));
                format!("{left} {} {right}", self.operator())
            }
            7 | 8 => format!("({})", self.expression(depth)),
            9..=11 => self.call(depth),
            12 | 13 => {
                let (condition, one, other) = (self.condition(depth), self.expression(depth), self.expression(depth));
                format!("if({condition}, {one}, {other})")
            }
            14 => format!("if({}, {})", self.condition(depth), self.expression(depth)),
            15 | 16 => format!("({} {} {})", self.name(), self.random.pick(&[":=", "="]), self.expression(depth)),
            17 | 18 => self.block(depth),
            19 | 20 => self.of_list(depth),
            21 => self.of_text(depth),
            22 => self.reflection(depth),
            23 => format!("{} {}", self.expression(depth), self.random.pick(&["abs", "floor", "not", "isNil", "type"])),
            24 => {
                format!("({}) {}({})", self.expression(depth), self.random.pick(&["and", "or"]), self.expression(depth))
            }
            25 => format!("{} ifNil({})", self.leaf(), self.expression(depth)),
            26 => format!("try({}) ?error", self.statements(Place { depth, in_loop: false })),
            27 => format!("{} clone s", self.random.pick(&["o0", "o1"])),
            28 => self.loop_(Place { depth, in_loop: false }),
            29 => self.closure(depth),
            30 => self.indirect_call(depth),
            31 => self.slot_by_name(depth),
            32 => self.of_future(depth),
            33 => format!("(gc; {})", self.expression(depth)),
            34 => self.stopped(depth),
            _ => format!("({}; {})", self.expression(depth), self.expression(depth)),
        }
    }

    fn call(&mut self, depth: usize) -> String {
        let arguments: Vec<String> = (0..self.random.below(4)).map(|_| self.expression(depth)).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        match self.random.below(8) {
            0..=4 => format!("{}{arguments}", self.method_name()),
            5 | 6 => format!("{} m{arguments}", self.object()),
            _ => format!("self {}{arguments}", self.method_name()),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let (name, body) = (self.name(), self.expression(depth));
        let argument = self.expression(depth);
        match self.random.below(6) {
            0 => format!("block({name}, {body}) call({argument})"),
            1 => format!("(bs append(block({name} = {body})); {argument})"),
            2 => "(if(bs size > 0, bs last call, 9))".to_string(),
            3 => format!("(f := block({name}, {body}); f call({argument}))"),
            4 => format!("(f := method({name}, {body}); f({argument}))"),
            _ => format!("({name} := method({body}); {name})"),
        }
    }

    /// Blocks that outlive who made them, and that others call.
    fn closure(&mut self, depth: usize) -> String {
        let (name, other) = (self.name(), self.name());
        let (body, argument) = (self.expression(depth), self.expression(depth));
        match self.random.below(8) {
            0 => format!("(mk := method({name}, block({other}, {name} = {body})); mk({argument}) call({other}))"),
            1 => format!("bs foreach({name}, {name} call({argument}))"),
            2 => format!("(bs append(block({name}, {other} = {body})); bs first call({argument}))"),
            3 => format!("(f := block({name}, {body}); f setScope(o1); f call({argument}))"),
            4 => format!("ls sortBy(block({name}, {other}, {name} == {other})) size"),
            5 => format!("ls clone mapInPlace({name}, {body}) size"),
            6 => format!("ls reduce({name}, {other}, {body})"),
            _ => format!("ls detect({name}, {body})"),
        }
    }

    /// Calls that do not stand in the text as calls.
    fn indirect_call(&mut self, depth: usize) -> String {
        let (name, method) = (self.name(), self.method_name());
        let (one, other) = (self.expression(depth), self.expression(depth));
        match self.random.below(12) {
            0 => format!("performWithArgList(\"{method}\", list({one}, {other}))"),
            1 => format!("getSlot(\"{method}\") call({one}, {other})"),
            2 => format!("o1 getSlot(\"m\") performOn({one})"),
            3 => format!("doMessage(message({one}))"),
            4 => format!("o0 doMessage(message({one} + s))"),
            5 => format!("doString(\"{name} = {name} + 1; {method}({name})\")"),
            6 => "call evalArgs size".to_string(),
            7 => "call delegateTo(o1)".to_string(),
            8 => "call sender doMessage(call argAt(0))".to_string(),
            9 => format!("o2 lexicalDo(z := {one}) z"),
            10 => format!("message({one}) clone doInContext(o1)"),
            _ => format!("({name} := getSlot(\"{method}\"); {name}({other}))"),
        }
    }

    /// Slots that are named by values.
    fn slot_by_name(&mut self, depth: usize) -> String {
        let (name, one) = (self.name(), self.expression(depth));
        let object = self.object();
        match self.random.below(9) {
            0 => format!("setSlot(\"{name}\", {one})"),
            1 => format!("updateSlot(\"{name}\", {one})"),
            2 => format!("{object} setSlot(\"{name}\", {one})"),
            3 => format!("({name} ::= {one})"),
            4 => format!("(self {name} ::= {one}; set{}({one}); {name})", name.to_uppercase()),
            5 => format!("(removeSlot(\"{name}\"); {one})"),
            6 => format!("({object} removeSlot(\"s\"); {one})"),
            7 => format!("({object} do({name} = {one}))"),
            _ => format!("thisContext hasLocalSlot(\"{name}\")"),
        }
    }

    fn of_future(&mut self, depth: usize) -> String {
        let one = self.expression(depth);
        match self.random.below(4) {
            0 => format!("(fu := o1 @m({one}); fu)"),
            1 => format!("(fu := o0 @m({one}); yield; fu + 1)"),
            2 => format!("(fu := self @{}({one}); fu isNil)", self.method_name()),
            _ => "(if(hasSlot(\"fu\"), fu, 3))".to_string(),
        }
    }

    /// Stops that leave blocks, or are looked at.
    fn stopped(&mut self, depth: usize) -> String {
        let (name, one, other) = (self.name(), self.expression(depth), self.expression(depth));
        let stop = self.random.pick(&["return", "break", "continue"]);
        match self.random.below(5) {
            0 => format!("block({name}, {stop}({one}); 5) call({other})"),
            1 => format!("(f := block({name}, if({name}, {stop}({one})); 6); f setPassStops(true); f call({other}))"),
            2 => format!("(stopStatus({stop}({one})) type)"),
            3 => format!("(g := method(call relayStopStatus({stop}({one}))); g)"),
            _ => format!("(g := method(call evalArgAt(0)); g(if({other}, {stop}({one}))))"),
        }
    }

    fn of_list(&mut self, depth: usize) -> String {
        let (one, other) = (self.expression(depth), self.expression(depth));
        match self.random.below(8) {
            0 => format!("list({one}, {other}) at({})", self.random.below(3)),
            1 => format!("ls append({one}) size"),
            2 => format!("list({one}, {other}) map(v, v) size"),
            3 => format!("ls map({}, {one}) size", self.name()),
            4 => format!("mp atPut(\"k\", {one}) at(\"k\")"),
            5 => format!("ls atPut(0, {one}) at({other})"),
            6 => format!("ls select({}, {one}) size", self.name()),
            _ => format!("(ls = list({one}, {other}); ls) first"),
        }
    }

    fn of_text(&mut self, depth: usize) -> String {
        let one = self.expression(depth);
        match self.random.below(4) {
            0 => format!("(\"s\" .. ({one}))"),
            1 => format!("\"#{{{}}}\" interpolate", self.name()),
            2 => format!("(\"abc\" at({one}))"),
            _ => format!("(\"x\" asMutable appendSeq({one}) size)"),
        }
    }

    /// What asks about names, messages and callers.
    fn reflection(&mut self, depth: usize) -> String {
        let (name, method, one) = (self.name(), self.method_name(), self.expression(depth));
        match self.random.below(14) {
            0 => format!("perform(\"{method}\", {one})"),
            1 => format!("self perform(\"{method}\", {one})"),
            2 => format!("getSlot(\"{name}\")"),
            3 => format!("self getSlot(\"{name}\")"),
            4 => format!("doString(\"{name} + 1\")"),
            5 => "call argCount".to_string(),
            6 => "call evalArgAt(0)".to_string(),
            7 => "call message name".to_string(),
            8 => "thisMessage name".to_string(),
            9 => format!("super({method}({one}))"),
            10 => "resend".to_string(),
            11 => format!("(call sender {name})"),
            12 => format!("hasSlot(\"{name}\")"),
            _ => format!("message({one}) doInContext(self)"),
        }
    }
}
