//! Runs a program on every engine and compares what it did: the tree evaluator, which is what programs mean, compiled
//! code, and compiled code whose frames go back to the tree again and again.

#[path = "../captured/mod.rs"]
mod captured;

use captured::captured;
use language::{Args, Error, Function, Halt, Limits, Value, Vm};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    Tree,
    Code,
    /// Code that all frames leave each time so much fuel is used.
    Leaving(u64),
    /// Code, and every stack that is suspended comes back from a file.
    #[allow(dead_code, reason = "the fuzz target shares this file, and has no use for it")]
    Saving,
}

/// What a run did, as far as anybody can notice.
#[derive(PartialEq, Eq, Debug)]
pub struct Run {
    pub output: String,
    pub result: String,
    pub fuel: u64,
}

#[derive(Clone, Copy)]
pub struct Bounds {
    pub fuel: u64,
    pub memory_bytes: u64,
    pub depth: usize,
}

pub const BOUNDS: Bounds = Bounds { fuel: 20_000, memory_bytes: 64 << 20, depth: 60 };

/// A machine whose output is kept.
pub struct Machine {
    vm: Vm,
    output: Rc<RefCell<Vec<u8>>>,
    /// How often the program may still collect.
    collections: Rc<Cell<u32>>,
}

/// Collections that a program may ask for.
const COLLECTIONS: u32 = 3;

impl Machine {
    pub fn new(engine: Engine) -> Machine {
        let (host, output) = captured();
        let mut vm = Vm::new(host);
        define_trace(&mut vm, output.clone());
        let collections = Rc::new(Cell::new(0));
        define_gc(&mut vm, collections.clone());
        match engine {
            Engine::Tree => vm.set_compiling(false),
            Engine::Code => {}
            Engine::Leaving(fuel) => vm.set_leave_every(fuel),
            Engine::Saving => vm.set_saving_stacks(true),
        }
        Machine { vm, output, collections }
    }

    pub fn run(&mut self, source: &str, bounds: Bounds) -> Run {
        let Bounds { fuel, memory_bytes, depth } = bounds;
        self.vm.set_limits(Limits { fuel: Some(fuel), memory_bytes: Some(memory_bytes), depth });
        self.output.borrow_mut().clear();
        self.collections.set(COLLECTIONS);
        let result = match self.vm.evaluate(source, "program") {
            Ok(value) => show(&mut self.vm, value, 3),
            Err(Error::Exception(exception)) => {
                let entries = exception.trace.entries.iter();
                let trace: Vec<String> = entries
                    .map(|at| format!("\n  {} {}:{}:{} ×{}", at.name, at.label, at.line, at.column, at.times))
                    .collect();
                format!("uncaught {exception}{}", trace.concat())
            }
            Err(Error::Halted(Halt::Memory { .. })) => OUT_OF_MEMORY.to_string(),
            Err(error) => format!("{error}"),
        };
        let fuel = fuel - self.vm.fuel_left().unwrap_or(0);
        let output = String::from_utf8_lossy(&self.output.borrow()).into_owned();
        Run { output: without_addresses(&output), result: without_addresses(&result), fuel }
    }
}

/// Runs a program on a fresh machine.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn run(engine: Engine, source: &str, bounds: Bounds) -> Run {
    Machine::new(engine).run(source, bounds)
}

const OUT_OF_MEMORY: &str = "out of memory";

/// `trace(values…)` prints values in a way that no program can change.
fn define_trace(vm: &mut Vm, output: Rc<RefCell<Vec<u8>>>) {
    let core = vm.core();
    let trace = move |vm: &mut Vm, args: Args| {
        let values = args.values(vm).to_vec();
        for &value in &values {
            let text = show(vm, value, 3);
            output.borrow_mut().extend_from_slice(format!("{text} ").as_bytes());
        }
        output.borrow_mut().push(b'\n');
        Ok(values.first().copied().unwrap_or(Value::NIL))
    };
    vm.define(core, "trace", language::ALL, Function::Shared(Rc::new(trace)));
}

/// `gc` collects garbage, and says nothing of how much there was; a few times only, for it takes long.
fn define_gc(vm: &mut Vm, left: Rc<Cell<u32>>) {
    let core = vm.core();
    let gc = move |vm: &mut Vm, _: Args| {
        if left.get() > 0 {
            left.set(left.get() - 1);
            vm.collect();
        }
        Ok(Value::NIL)
    };
    vm.define(core, "gc", language::NONE, Function::Shared(Rc::new(gc)));
}

/// A value as text, without asking it.
fn show(vm: &mut Vm, value: Value, depth: usize) -> String {
    if value == Value::NIL {
        return "nil".into();
    }
    if value == Value::TRUE || value == Value::FALSE {
        return (value == Value::TRUE).to_string();
    }
    if let Some(text) = vm.simple_text(value) {
        return text;
    }
    let items = value.as_handle().and_then(|handle| vm.heap().list(handle)).map(<[Value]>::to_vec);
    match items {
        Some(items) if depth > 0 => {
            let items: Vec<String> = items.iter().take(20).map(|&item| show(vm, item, depth - 1)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => format!("a {}", vm.type_name(value)),
    }
}

/// Where an object lies differs from engine to engine; it is printed after 0x.
fn without_addresses(text: &str) -> String {
    let mut pieces = text.split("0x");
    let mut clean = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        clean.push_str("0x");
        clean.push_str(piece.trim_start_matches(|each: char| each.is_ascii_hexdigit()));
    }
    clean
}

/// Why two runs of a program are not the same, if they are not.
pub fn difference(tree: &Run, other: &Run) -> Option<String> {
    // Locals that are registers take no memory, so the tree comes to that limit first.
    if [&tree.result, &other.result].iter().any(|result| *result == OUT_OF_MEMORY) {
        let same = tree.output.starts_with(&other.output) || other.output.starts_with(&tree.output);
        return (!same).then(|| format!("tree printed\n{}\nthe other\n{}", tree.output, other.output));
    }
    if tree.output != other.output {
        let same = tree.output.lines().zip(other.output.lines()).take_while(|(one, other)| one == other).count();
        let rest = |text: &str| text.lines().skip(same).take(4).collect::<Vec<_>>().join("\n    ");
        let (one, two) = (rest(&tree.output), rest(&other.output));
        let (first, second) = (&tree.result, &other.result);
        return Some(format!(
            "after {same} lines the tree printed\n    {one}\nand answered {first}\nthe other\n    {two}\nand {second}"
        ));
    }
    if tree.result != other.result {
        return Some(format!("the tree answered\n  {}\nthe other\n  {}", tree.result, other.result));
    }
    (tree.fuel != other.fuel).then(|| format!("the tree used {} fuel, the other {}", tree.fuel, other.fuel))
}

/// Compares engines with the tree, and answers what that did.
#[allow(dead_code, reason = "not every test file needs it")]
pub fn compare_on(engines: &[Engine], source: &str, bounds: Bounds) -> Result<Run, String> {
    let tree = run(Engine::Tree, source, bounds);
    for &engine in engines {
        if let Some(why) = difference(&tree, &run(engine, source, bounds)) {
            return Err(format!("{engine:?}: {why}"));
        }
    }
    Ok(tree)
}
