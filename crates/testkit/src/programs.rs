//! Io programs from a seed: small, mostly meaningful, and full of what makes a compiler wrong. They print with `trace`
//! and collect garbage with `gc`, which whoever runs them defines, end within a bounded amount of fuel only, and never print what depends on where
//! objects lie.

mod expression;
mod statement;

use crate::random::Random;

const METHODS: usize = 5;
const EDITS: usize = 3;
const MESSAGES: usize = 3;

/// Names that are arguments, locals, slots of objects and of the Lobby, all at once.
const NAMES: &[&str] = &["a", "b", "c", "x", "y", "i", "j", "v"];

/// A program that defines methods that call, edit and redefine each other, and runs them a few times. A third of them
/// change nothing at run time: what they print is what the compiler made of them.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let wild = [0, 8, 20][random.below(3)];
    Writer { random, wild }.program()
}

/// A program that changes nothing at run time but its own objects, so that another can run after it.
pub fn calm_program(seed: u64) -> String {
    Writer { random: Random::new(seed), wild: 0 }.program()
}

/// Writes pieces of programs. `depth` is how much nesting is still allowed.
pub(crate) struct Writer {
    pub random: Random,
    /// How often, in percent, a statement changes code or meanings.
    pub wild: usize,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub depth: usize,
    pub in_loop: bool,
}

impl Place {
    pub fn deeper(self) -> Place {
        Place { depth: self.depth.saturating_sub(1), ..self }
    }

    pub fn looping(self) -> Place {
        Place { in_loop: true, ..self.deeper() }
    }
}

impl Writer {
    fn program(&mut self) -> String {
        let mut text = String::new();
        for (index, name) in NAMES.iter().enumerate() {
            text.push_str(&format!("{name} := {}\n", index + 1));
        }
        text.push_str("ls := list(3, 1, 2)\nmp := Map clone atPut(\"k\", 4)\nbs := list()\n");
        text.push_str(
            "o0 := Object clone do(s := 1; t := 2)\no1 := o0 clone do(s := 3)\no2 := Object clone do(u := 5)\n",
        );
        for object in ["o0", "o1", "o2"] {
            let (arguments, body) = (self.arguments(), self.body(2));
            text.push_str(&format!("{object} m := method({arguments}{body})\n"));
        }
        for index in 0..METHODS {
            let (arguments, body) = (self.arguments(), self.body(3));
            text.push_str(&format!("m{index} := method({arguments}{body})\n"));
        }
        for index in 0..EDITS {
            let edit = self.change();
            text.push_str(&format!("ed{index} := method(try({edit}))\n"));
        }
        for index in 0..MESSAGES {
            let message = self.message_of_method();
            text.push_str(&format!("msg{index} := nil\ntry(msg{index} = {message})\n"));
        }
        let body = self.body(3);
        text.push_str(&format!("main := method(x, {body})\n"));
        let arguments = [self.leaf(), self.leaf(), self.leaf()];
        for argument in arguments {
            text.push_str(&format!("e := try(trace(main({argument})))\nif(e, trace(e error))\n"));
        }
        if self.random.chance(30) {
            text.push_str("yield\n");
        }
        // Outside of any try, so that its trace is seen.
        if self.random.chance(30) {
            text.push_str(&format!("main({})\n", self.leaf()));
        }
        if self.random.chance(30) {
            let last = self.statement(Place { depth: 2, in_loop: false });
            text.push_str(&format!("{last}\n"));
        }
        text
    }

    /// Argument names of a method, each with its comma.
    fn arguments(&mut self) -> String {
        (0..self.random.below(3)).map(|_| format!("{}, ", self.random.pick(NAMES))).collect()
    }

    /// The body of a method, with some names assigned first.
    fn body(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            let (name, value) = (self.name(), self.expression(1));
            text.push_str(&format!("{name} := {value}; "));
        }
        text.push_str(&self.statements(Place { depth, in_loop: false }));
        text
    }

    pub fn statements(&mut self, place: Place) -> String {
        let count = 1 + self.random.below(3);
        let statements: Vec<String> = (0..count).map(|_| self.statement(place)).collect();
        statements.join("; ")
    }

    pub fn name(&mut self) -> &'static str {
        self.random.pick(NAMES)
    }

    pub fn method_name(&mut self) -> String {
        format!("m{}", self.random.below(METHODS))
    }

    pub fn object(&mut self) -> String {
        self.random.pick(&["o0", "o1", "o2", "self", "self"]).to_string()
    }

    /// A message somewhere in a method.
    pub fn message_of_method(&mut self) -> String {
        let mut text = match self.random.below(3) {
            0 => format!("{} getSlot(\"m\") message", self.random.pick(&["o0", "o1", "o2"])),
            _ => format!("Lobby getSlot(\"{}\") message", self.method_name()),
        };
        for _ in 0..self.random.below(6) {
            text.push_str(self.random.pick(&[" next", " next", " argAt(0)", " argAt(1)", " argAt(2)"]));
        }
        text
    }
}
