//! Primitives: what Io cannot say in Io. Owns the table of them and how they read their arguments.
//!
//! One file for each prototype. An *eager* primitive finds its arguments evaluated; a *lazy* one gets the message and
//! evaluates what it wants by pushing frames, as a state machine in `step`. No primitive ever runs the machine.

mod args;
mod block;
mod calendar;
mod call;
mod collector;
mod control;
mod coroutine;
mod date;
mod duration;
mod encoded_list;
mod iterate;
mod json;
mod list;
mod map;
mod message;
mod number;
mod object;
pub(crate) mod quick;
mod regex;
mod sequence;
mod slots;
mod sort;

pub use args::Args;
pub(crate) use control::end_lexical_do;
pub(crate) use number::modulo;
pub(crate) use regex::RegexCache;

use crate::machine::frame::Native;
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use ::object::{Data, Handle, Kind, Value};
use quick::Quick;
use std::rc::Rc;

pub type Plain = fn(&mut Vm, Args) -> Outcome;
type Shared = dyn Fn(&mut Vm, Args) -> Outcome;

/// The Rust behind a primitive.
#[derive(Clone)]
pub enum Function {
    Plain(Plain),
    Shared(Rc<Shared>),
}

impl Function {
    /// A closure, which may hold what belongs to the embedder.
    ///
    /// ```
    /// # use language::{Function, NONE, Value, Vm};
    /// let mut vm = Vm::default();
    /// let lobby = vm.lobby();
    /// let answer = 42.0;
    /// vm.define(lobby, "answer", NONE, Function::shared(move |_, _| Ok(Value::number(answer))));
    /// vm.define(lobby, "refuse", NONE, Function::shared(|vm, _| Err(vm.raise("not today"))));
    /// let value = vm.evaluate("try(refuse) error .. \", but \" .. answer", "example")?;
    /// assert_eq!(vm.text_of(value).as_deref(), Some("not today, but 42"));
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn shared(function: impl Fn(&mut Vm, Args) -> Outcome + 'static) -> Function {
        Function::Shared(Rc::new(function))
    }

    #[inline(always)]
    pub fn call(&self, vm: &mut Vm, args: Args) -> Outcome {
        match self {
            Function::Plain(function) => function(vm, args),
            Function::Shared(function) => function(vm, args),
        }
    }
}

/// Whether arguments are evaluated before the call, and at most how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eagerness {
    Lazy,
    Eager(u8),
}

impl Eagerness {
    /// How many arguments are evaluated at most.
    pub fn most(self) -> usize {
        match self {
            Eagerness::Lazy => 0,
            ALL => usize::MAX,
            Eagerness::Eager(most) => most as usize,
        }
    }
}

/// Evaluate whatever the message has.
pub const ALL: Eagerness = Eagerness::Eager(u8::MAX);
pub const NONE: Eagerness = Eagerness::Eager(0);
pub const ONE: Eagerness = Eagerness::Eager(1);
pub const TWO: Eagerness = Eagerness::Eager(2);
pub const THREE: Eagerness = Eagerness::Eager(3);
pub const LAZY: Eagerness = Eagerness::Lazy;

pub struct Primitive {
    /// `Prototype name`, for people and for saved images.
    pub name: String,
    pub eagerness: Eagerness,
    pub function: Function,
    /// The usual case, done with nothing but the heap.
    pub(crate) quick: Option<Quick>,
    /// Whether it is `Block call`, which compiled code does itself.
    pub(crate) calls_block: bool,
}

/// A row of a prototype's table.
pub type Row = (&'static str, Eagerness, Plain);

impl Vm {
    /// Gives an object a primitive method. `eagerness` says how many arguments are evaluated for it.
    pub fn define(&mut self, object: Value, name: &str, eagerness: Eagerness, function: Function) {
        let Some(holder) = object.as_handle() else { return };
        let type_name = self.type_name(object);
        self.primitives.push(Primitive {
            name: format!("{type_name} {name}"),
            eagerness,
            function,
            quick: None,
            calls_block: false,
        });
        let index = self.primitives.len() as u32 - 1;
        let proto = self.protos.primitive;
        let primitive = self.heap.clone_of(proto, Kind::Primitive, Data::Primitive(index));
        self.set_activatable(primitive, true);
        let name = self.heap.intern(name);
        self.heap.set_slot(holder, name, Value::object(primitive));
    }

    pub(crate) fn define_table(&mut self, holder: Handle, table: &[Row]) {
        for &(name, eagerness, function) in table {
            self.define(Value::object(holder), name, eagerness, Function::Plain(function));
        }
    }
}

/// Gives every prototype its primitives.
pub fn install(vm: &mut Vm) {
    let protos = vm.protos;
    for table in [object::TABLE, slots::TABLE, control::TABLE] {
        vm.define_table(protos.object, table);
    }
    // Locals answer these themselves and hand everything else on to their `self`.
    vm.heap.set_protos(protos.locals, vec![]);
    for table in [object::TABLE, slots::TABLE, control::TABLE, slots::LOCALS_TABLE] {
        vm.define_table(protos.locals, table);
    }
    vm.define_table(protos.number, number::TABLE);
    vm.define_table(protos.number, iterate::NUMBER_TABLE);
    sequence::install(vm);
    regex::install(vm);
    vm.define_table(protos.list, list::TABLE);
    vm.define_table(protos.list, iterate::LIST_TABLE);
    vm.define_table(protos.list, sort::TABLE);
    vm.define_table(protos.list, encoded_list::TABLE);
    vm.define_table(protos.map, map::TABLE);
    vm.define_table(protos.map, iterate::MAP_TABLE);
    vm.define_table(protos.block, block::TABLE);
    vm.define_table(protos.call, call::TABLE);
    vm.define_table(protos.message, message::TABLE);
    vm.define_table(protos.coroutine, coroutine::TABLE);
    vm.define_table(protos.frame, coroutine::FRAME_TABLE);
    vm.define_table(protos.weak_link, collector::WEAK_LINK_TABLE);
    vm.define_table(protos.primitive, block::PRIMITIVE_TABLE);
    collector::install(vm);
    quick::install(vm);
    mark_block_call(vm);
    remember_built_in(vm);
    date::install(vm);
    duration::install(vm);
    crate::host::install(vm);
}

/// Marks the primitive that calls a block.
fn mark_block_call(vm: &mut Vm) {
    let call = vm.heap.own_slot(vm.protos.block, vm.names.call).and_then(|value| value.as_handle());
    if let Some(Data::Primitive(index)) = call.map(|handle| vm.heap.object(handle).data()) {
        vm.primitives[*index as usize].calls_block = true;
    }
}

/// Keeps what Object and Locals mean by the names that compiled code does itself.
fn remember_built_in(vm: &mut Vm) {
    for name in ["", "if", "while", "loop", "for", "break", "continue", "setSlot", "updateSlot"] {
        let name = vm.heap.intern(name);
        let own = [vm.protos.object, vm.protos.locals].map(|holder| vm.heap.own_slot(holder, name));
        vm.built_in.insert(name, own.into_iter().flatten().filter_map(|value| value.as_handle()).collect());
    }
}

/// Whether this primitive assigns its last argument.
pub(crate) fn assigns(vm: &Vm, callee: Handle) -> bool {
    match vm.heap.object(callee).data() {
        Data::Primitive(index) => match vm.primitives[*index as usize].function {
            Function::Plain(function) => slots::ASSIGNMENTS.iter().any(|&each| std::ptr::fn_addr_eq(each, function)),
            Function::Shared(_) => false,
        },
        _ => false,
    }
}

/// Lets a native frame go on with the value it waited for.
pub(crate) fn step(vm: &mut Vm, native: Native, value: Value) -> Outcome {
    match native {
        Native::If => control::step_if(vm, value),
        Native::While => control::step_while(vm, value),
        Native::Loop => control::step_loop(vm, value),
        Native::For => control::step_for(vm, value),
        Native::Repeat => iterate::step_repeat(vm, value),
        Native::Foreach => iterate::step_foreach(vm, value),
        Native::Try => Ok(Value::NIL),
        Native::StopStatus => Ok(vm.status_of(None)),
        Native::LexicalDo => control::step_lexical_do(vm),
        Native::EvaluateArguments => message::step_evaluate_arguments(vm, value),
        Native::Write => object::step_write(vm, value),
        Native::AnswerTarget => Ok(vm.top().target),
        Native::Coroutine => vm.finish_coroutine(value),
        Native::SortBy => sort::step_sort_by(vm, value),
        Native::AtIfAbsentPut => map::step_at_if_absent_put(vm, value),
        Native::AskTexts => sequence::step_ask_texts(vm, value),
        Native::Interpolate => sequence::step_interpolate(vm, value),
    }
}

/// What a native frame does with a stop that passes: an outcome if it catches it.
pub(crate) fn step_stop(vm: &mut Vm, native: Native, stop: Stop, value: Value) -> Option<Outcome> {
    match (native, stop) {
        (Native::While | Native::Loop | Native::For | Native::Repeat | Native::Foreach, Stop::Continue) => {
            Some(vm.step(native, value))
        }
        (Native::While | Native::Loop | Native::For | Native::Repeat | Native::Foreach, Stop::Break) => {
            vm.pop_frame();
            Some(Ok(value))
        }
        (Native::Try, _) => {
            vm.pop_frame();
            Some(Ok(Value::NIL))
        }
        (Native::StopStatus, _) => {
            vm.pop_frame();
            Some(Ok(vm.status_of(Some(stop))))
        }
        (Native::Coroutine, _) => Some(vm.finish_coroutine(value)),
        _ => None,
    }
}

/// An exception about a value, for primitives that have no better words.
pub(crate) fn refuse(vm: &mut Vm, args: &Args, why: &str) -> Signal {
    let name = args.name(vm);
    vm.raise(format!("'{name}' {why}"))
}
