//! Compiled code: a disposable cache of message trees as register instructions. Messages stay the truth.
//!
//! A block's body becomes a `Unit` whose locals live in registers. Whatever the code does not cover (a lazy primitive,
//! a block that closes over its locals, a value of an unexpected kind, an inspector) makes the frame *leave* the code:
//! its state becomes tree frames with a real Locals object, and it goes on there. A message that changes leaves every
//! frame of the units made from it, in the middle of its own call too.
//!
//! - `compile`, with `chain`, `call`, `arithmetic`, `control` and `loops` as its chapters: trees to instructions
//! - `state`: what each instruction means in the tree
//! - `execute`: the loop; `run`: what it hands out; `send`, `site`: calls and what they remember; `leave`: back to the tree

mod arithmetic;
mod call;
mod chain;
pub mod compile;
mod control;
mod execute;
mod instruction;
mod leave;
mod loops;
mod run;
mod send;
pub mod site;
pub mod state;

use crate::block::field;
use crate::machine::frame::{Frame, Kind};
use crate::machine::values::WINDOW;
use crate::message;
use crate::primitives::Args;
use crate::vm::Vm;
use instruction::Instruction;
use object::{Handle, Symbol, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use site::Site;
use state::{State, StateId};
use std::cell::Cell;
use std::rc::Rc;

/// What a unit was made of, and where its locals are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// A block's body: its locals are registers.
    Body,
    /// A chain that is evaluated in some object: register 0 is that object, and names are its slots.
    Chain,
    /// As Chain, but one message only, whose chain waits beneath; register 1 is its receiver.
    Message,
}

/// What is known about evaluating a message in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum InContext {
    /// It happened once: the next time it is worth compiling.
    Once,
    /// Too big, or left its code at once.
    Refused,
    Unit(u32),
}

/// The code of one block's body, or of a message that is evaluated in an object.
pub struct Unit {
    pub scope: Scope,
    pub code: Vec<Instruction>,
    /// For each instruction, where the tree would be before it.
    pub states_at: Vec<StateId>,
    /// For each instruction, where the tree would be while it waits for a callee.
    pub waits_at: Vec<StateId>,
    pub states: Vec<State>,
    /// For each instruction, the message it stands for.
    pub messages_at: Vec<Handle>,
    pub sites: Vec<Site>,
    /// For each instruction, and for the end, the fuel of all instructions before it.
    pub owed_at: Vec<u16>,
    /// Names of registers 1 and on: arguments, then locals.
    pub names: Vec<Symbol>,
    pub argument_count: usize,
    pub registers: usize,
    pub body: Handle,
    /// Messages it was made from.
    pub messages: Vec<Handle>,
    /// Whether it ran since the last collection.
    pub used: Cell<bool>,
}

impl Unit {
    /// Makes arguments that were not given nil, and other locals nothing yet.
    #[inline(always)]
    fn clear_locals(&self, registers: &mut [Value; WINDOW], given: usize) {
        if given < self.argument_count {
            registers[1 + given..=self.argument_count].fill(Value::NIL);
        }
        if self.argument_count < self.names.len() {
            registers[1 + self.argument_count..=self.names.len()].fill(Value::ABSENT);
        }
    }

    /// Names every object that the code refers to.
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        visit(Value::object(self.body));
        self.code.iter().for_each(|instruction| visit(instruction.value));
        self.messages.iter().chain(&self.names).for_each(|&handle| visit(Value::object(handle)));
        for site in &self.sites {
            [site.name, site.message].into_iter().for_each(|handle| visit(Value::object(handle)));
        }
        for state in &self.states {
            state.trace(visit);
        }
    }
}

/// All units of a machine.
#[derive(Default)]
pub struct Units {
    table: Vec<Option<Rc<Unit>>>,
    free: Vec<u32>,
    /// By body message; none for what is not worth compiling.
    by_body: FxHashMap<Handle, Option<u32>>,
    in_context: FxHashMap<Handle, InContext>,
    /// Bodies that the tree evaluated once while reads were noted.
    met: FxHashSet<Handle>,
    by_message: FxHashMap<Handle, Vec<u32>>,
    /// Messages whose receivers turned out not to be what the code assumed.
    pub surprises: FxHashSet<Handle>,
    /// Names that the program gave another meaning in Locals or Number.
    pub redefined: FxHashSet<Symbol>,
    /// Off: every block runs as a tree. For tests that compare both.
    pub disabled: bool,
    /// On: frames leave their code whenever a slice of fuel ends. For tests of leaving.
    pub stressed: bool,
}

impl Units {
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&Rc<Unit>> {
        self.table[id as usize].as_ref()
    }

    fn add(&mut self, unit: Unit) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        for &message in &unit.messages {
            self.by_message.entry(message).or_default().push(id);
        }
        match unit.scope {
            Scope::Body => {
                self.by_body.insert(unit.body, Some(id));
            }
            Scope::Chain | Scope::Message => {
                self.in_context.insert(unit.body, InContext::Unit(id));
            }
        }
        self.table[id as usize] = Some(Rc::new(unit));
        id
    }

    /// Forgets a unit. Its frames must have left it.
    fn remove(&mut self, id: u32) {
        let Some(unit) = self.table[id as usize].take() else { return };
        if self.by_body.get(&unit.body) == Some(&Some(id)) {
            self.by_body.remove(&unit.body);
        }
        if self.in_context.get(&unit.body) == Some(&InContext::Unit(id)) {
            self.in_context.remove(&unit.body);
        }
        for message in &unit.messages {
            if let Some(ids) = self.by_message.get_mut(message) {
                ids.retain(|&each| each != id);
                if ids.is_empty() {
                    self.by_message.remove(message);
                }
            }
        }
        self.free.push(id);
    }

    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        self.table.iter().flatten().for_each(|unit| unit.trace(visit));
    }

    fn ids(&self) -> Vec<u32> {
        (0..self.table.len() as u32).filter(|&id| self.table[id as usize].is_some()).collect()
    }
}

/// Whether a loop with so many arguments is compiled as one (see `control` and `chain`).
const fn is_compiled(name: &str, count: usize) -> bool {
    match name.as_bytes() {
        b"while" => count == 2,
        b"loop" => count == 1,
        b"for" => matches!(count, 4 | 5),
        b"foreach" => matches!(count, 2 | 3),
        b"repeat" => matches!(count, 1 | 2),
        _ => false,
    }
}

impl Vm {
    /// The unit of a block, compiled if it is worth it. None: evaluate the tree.
    pub(crate) fn unit_of(&mut self, block: Handle) -> Option<u32> {
        let record = self.heap.record(block);
        let body = record[field::MESSAGE].as_handle()?;
        let argument_names = &record[field::ARGUMENT_NAMES..];
        match self.units.by_body.get(&body) {
            Some(None) => return None,
            Some(&Some(id)) => {
                let unit = self.units.get(id)?;
                let same = unit.argument_count == argument_names.len()
                    && unit.names.iter().zip(argument_names).all(|(&name, &value)| value == Value::object(name));
                // The same body under other argument names is rare enough to be left to the tree.
                return same.then_some(id);
            }
            None => {}
        }
        if self.units.disabled {
            return None;
        }
        let names: Vec<Symbol> = argument_names.iter().filter_map(|name| name.as_handle()).collect();
        match compile::compile(self, body, &names) {
            Some(unit) => Some(self.units.add(unit)),
            None => {
                self.units.by_body.insert(body, None);
                None
            }
        }
    }

    /// The same for a caller that is a tree. While reads are noted nothing that was compiled lasts, and most of what is called is
    /// called once: then it is compiled the second time.
    pub(crate) fn unit_worth_having(&mut self, block: Handle) -> Option<u32> {
        if self.heap.notes_reads()
            && let Some(body) = self.heap.record(block)[field::MESSAGE].as_handle()
            && !self.units.by_body.contains_key(&body)
            && self.units.met.insert(body)
        {
            return None;
        }
        self.unit_of(block)
    }

    /// The unit of a message that is evaluated in an object, once that has happened before.
    fn context_unit(&mut self, message: Handle, scope: Scope) -> Option<u32> {
        if self.units.disabled || !self.tank.gives_credit() {
            return None;
        }
        match (self.units.in_context.get(&message), scope) {
            (Some(&InContext::Unit(id)), _) => {
                return self.units.get(id).is_some_and(|unit| unit.scope == scope).then_some(id);
            }
            (Some(InContext::Refused), _) => return None,
            (None, Scope::Chain) => {
                self.units.in_context.insert(message, InContext::Once);
                return None;
            }
            _ => {}
        }
        match compile::compile_in_context(self, message, scope) {
            Some(unit) => Some(self.units.add(unit)),
            None => {
                self.refuse_in_context(message);
                None
            }
        }
    }

    /// From now on the tree evaluates this message.
    pub(super) fn refuse_in_context(&mut self, message: Handle) {
        self.units.in_context.insert(message, InContext::Refused);
    }

    /// Evaluates a chain in an object, as code if it is worth it. The answer goes to the frame now on top.
    pub(crate) fn push_evaluation(&mut self, message: Handle, target: Value, locals: Value) {
        if target == locals
            && locals.as_handle().is_some_and(|handle| !self.has_built_ins(handle))
            && let Some(unit) = self.context_unit(message, Scope::Chain)
        {
            self.push_context_frame(unit, message, locals, Value::NIL);
        } else {
            self.push_chain(message, target, locals);
        }
    }

    /// Runs a loop as code, on behalf of the chain on top. False if the primitive itself has to do it.
    pub(crate) fn push_loop(&mut self, args: &Args, name: &str) -> bool {
        // Under another name, or with more arguments than it has a use for, the message would be compiled as a plain send, which
        // comes back to here.
        if self.heap.symbol_text(message::name(&self.heap, args.message)) != name
            || !is_compiled(name, args.message_count(self))
        {
            return false;
        }
        if args.locals.as_handle().is_none_or(|handle| self.has_built_ins(handle))
            || self.top().kind != Kind::Chain
            || self.top().message != args.message
        {
            return false;
        }
        // It would be compiled as a plain send, which comes back to here.
        let name = message::name(&self.heap, args.message);
        if self.units.surprises.contains(&args.message) || self.units.redefined.contains(&name) {
            return false;
        }
        let Some(unit) = self.context_unit(args.message, Scope::Message) else { return false };
        self.push_context_frame(unit, args.message, args.locals, args.target);
        true
    }

    fn push_context_frame(&mut self, unit: u32, message: Handle, locals: Value, target: Value) {
        let base = self.stack.values.len();
        self.stack.values.push(locals);
        self.stack.values.push(target);
        self.stack.frames.push(Frame::code_in_context(unit, message, target, locals, base));
    }

    /// Makes all frames leave a unit, then forgets it.
    pub(crate) fn discard_unit(&mut self, id: u32) {
        self.leave_unit(id);
        self.units.remove(id);
        // Sites that know its id must look again.
        self.heap.renew_epoch();
    }

    pub(crate) fn discard_all_units(&mut self) {
        for id in self.units.ids() {
            self.discard_unit(id);
        }
        self.units.by_body.clear();
        self.units.in_context.clear();
        self.units.met.clear();
    }

    /// Called before a message changes in a way that evaluation can notice.
    pub(crate) fn message_changing(&mut self, message: Handle) {
        for id in self.units.by_message.get(&message).cloned().unwrap_or_default() {
            self.discard_unit(id);
        }
        // A body that was found not worth compiling may be now.
        self.units.by_body.remove(&message);
        self.units.in_context.remove(&message);
    }

    /// Called before a name that code may have built in gets another meaning. What is under way keeps the old one.
    #[cold]
    pub(crate) fn meaning_changing(&mut self, handle: Handle, name: Symbol) {
        if self.has_built_ins(handle) && self.units.redefined.insert(name) {
            self.heap.list_push(self.root.redefined, Value::object(name));
            self.discard_all_units();
        }
        self.leave_all();
        self.heap.renew_epoch();
    }

    /// Before a collection: units that did not run since the last one go; the rest are roots.
    pub(crate) fn drop_idle_units(&mut self) {
        self.heap.renew_epoch();
        for id in self.units.ids() {
            let idle = self.units.get(id).is_some_and(|unit| !unit.used.replace(false));
            if idle && !self.is_running(id) {
                self.units.remove(id);
            }
        }
        let units = &self.units;
        let live: FxHashSet<Handle> = units.by_message.keys().copied().collect();
        self.units.surprises.retain(|message| live.contains(message));
        self.units.by_body.retain(|_, id| id.is_some());
        self.units.in_context.retain(|_, known| matches!(known, InContext::Unit(_)));
    }

    /// After a collection that freed shapes: their ids may come again.
    pub(crate) fn forget_shapes(&mut self) {
        for unit in self.units.table.iter().flatten() {
            for site in &unit.sites {
                site.forget();
            }
        }
    }
}

impl State {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        use state::{Context, Source};
        let mut source = |source: &Source| {
            if let Source::Constant(value) = source {
                visit(*value);
            }
        };
        match &self.context {
            Context::Ready { target, .. } => source(target),
            Context::Argument { target, done, .. } => {
                source(target);
                done.iter().for_each(source);
            }
            Context::Native { target, values, .. } => {
                source(target);
                values.iter().for_each(source);
            }
            Context::Deliver { value } => source(value),
            Context::Result { .. } => {}
        }
    }
}
