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
mod exception;
mod importer;
mod iterate;
mod json;
mod list;
mod map;
mod message;
mod number;
mod object;
pub(crate) mod quick;
mod regex;
mod role;
mod sequence;
mod slots;
mod sort;
mod under_way;
mod world;

pub use args::Args;
pub(crate) use control::end_lexical_do;
pub(crate) use number::modulo;
pub(crate) use regex::RegexCache;
pub(crate) use role::Role;
pub(crate) use sort::SORT_BY_HELD;
pub(crate) use under_way::end_under_way;
pub(crate) use world::take_back;

use crate::machine::frame::Native;
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use ::object::{Data, Handle, Kind, Symbol, Value};
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

pub(crate) struct Primitive {
    /// The type it was made for, and its name there: for people and for saved images.
    pub(crate) owner: String,
    pub(crate) name: Symbol,
    pub(crate) eagerness: Eagerness,
    pub(crate) function: Function,
    pub(crate) role: Role,
}

/// A row of a prototype's table.
pub type Row = (&'static str, Eagerness, Plain);

impl Vm {
    /// Gives an object a primitive method. `eagerness` says how many arguments are evaluated for it.
    pub fn define(&mut self, object: Value, name: &str, eagerness: Eagerness, function: Function) {
        let Some(holder) = object.as_handle() else { return };
        let name = self.heap.intern(name);
        let primitive = self.new_primitive(object, name, eagerness, function);
        // It may take the place of something that code has built in.
        self.put_slot(holder, name, primitive);
    }

    /// The same for the machine's own, which are there before any code is.
    pub(crate) fn define_table(&mut self, holder: Handle, table: &[Row]) {
        for &(name, eagerness, function) in table {
            let name = self.heap.intern(name);
            let primitive = self.new_primitive(Value::object(holder), name, eagerness, Function::Plain(function));
            self.heap.set_slot(holder, name, primitive);
        }
    }

    fn new_primitive(&mut self, owner: Value, name: Symbol, eagerness: Eagerness, function: Function) -> Value {
        let owner = self.type_name(owner);
        self.primitives.push(Primitive { owner, name, eagerness, function, role: Role::Ordinary });
        let data = Data::Primitive(self.primitives.len() as u32 - 1);
        let primitive = self.heap.clone_of(self.protos.primitive, Kind::Primitive, data);
        self.set_activatable(primitive, true);
        Value::object(primitive)
    }
}

/// Gives every prototype its primitives.
pub fn install(vm: &mut Vm) {
    let protos = vm.protos;
    for table in [object::TABLE, slots::TABLE, control::TABLE, under_way::TABLE] {
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
    vm.define_table(protos.exception, exception::TABLE);
    vm.define_table(protos.weak_link, collector::WEAK_LINK_TABLE);
    vm.define_table(protos.primitive, block::PRIMITIVE_TABLE);
    collector::install(vm);
    world::install(vm);
    role::install(vm);
    date::install(vm);
    duration::install(vm);
    importer::install(vm);
    crate::host::install(vm);
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
        Native::Import => importer::step_import(vm, value),
        Native::Transaction | Native::World => {
            world::end(vm, native);
            Ok(value)
        }
        Native::UnderWay => {
            let frame = *vm.top();
            end_under_way(vm, &frame);
            Ok(value)
        }
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
        (Native::Transaction | Native::World, stop) => Some(world::end_by_stop(vm, native, stop, value)),
        _ => None,
    }
}

/// An exception about a value, for primitives that have no better words.
pub(crate) fn refuse(vm: &mut Vm, args: &Args, why: &str) -> Signal {
    let name = args.name(vm);
    vm.raise(format!("'{name}' {why}"))
}
