//! Primitives: what Io cannot say in Io. Owns the table of them and how they read their arguments.
//!
//! One file for each prototype. An *eager* primitive finds its arguments evaluated; a *lazy* one gets the message and
//! evaluates what it wants by pushing frames, as a state machine in `step`. No primitive ever runs the machine.

mod args;
mod block;
mod calendar;
mod call;
pub(crate) mod catalog;
mod collector;
mod control;
mod coroutine;
mod counter;
mod date;
mod distance;
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
use ::object::{Symbol, Value};
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
    /// Its prototype and its slot there, `List.append`: for saved images.
    pub(crate) full_name: Rc<str>,
    /// Its slot: for people.
    pub(crate) name: Symbol,
    pub(crate) eagerness: Eagerness,
    pub(crate) function: Function,
    pub(crate) role: Role,
    /// Whether there is a function, and not just a name.
    pub(crate) is_bound: bool,
    /// Whether the machine knows it without an embedder.
    pub(crate) is_own: bool,
}

/// A row of a prototype's table.
pub type Row = (&'static str, Eagerness, Plain);

/// Gives every prototype its primitives.
pub fn install(vm: &mut Vm) {
    catalog::install(vm, 0);
    vm.heap.set_protos(vm.protos.locals, vec![]);
    role::install(vm);
    date::install(vm);
    duration::install(vm);
    counter::install(vm);
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
