//! From a message tree to instructions. Owns which register holds what, and what each instruction means in the tree.
//!
//! Fuel is carried by the instruction that does the work; its state is always the point from which the tree would do,
//! and pay for, everything that was not yet executed.

use super::instruction::{Instruction, Op, Round};
use super::site::Site;
use super::state::{Context, Source, State, StateId};
use super::{Scope, Unit};
use crate::limits::CREDIT;
use crate::message;
use crate::vm::Vm;
use object::{Handle, Heap, Symbol, Value};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// More than a unit may have; beyond it the tree does the work.
pub(super) struct TooBig;

pub(super) type Compiled<T> = Result<T, TooBig>;

const REGISTERS_MAX: usize = 240;
const CODE_MAX: usize = 60_000;
pub(super) const NESTING_MAX: usize = 48;
const MESSAGES_MAX: usize = 20_000;

/// Where the value of an expression is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Constant(Value),
    /// A local that was not read yet: reading it may activate what it holds.
    Local(u8),
    Value(u8),
    /// Nowhere: the code does not come here.
    Dead,
}

/// The innermost loop that `break` and `continue` mean.
pub(super) struct Loop {
    pub breaks: Vec<usize>,
    pub continues: Vec<usize>,
    /// Where the loop's value goes, if anybody wants it.
    pub result: Option<u8>,
    /// Assignments around the loop.
    pub assignments: usize,
}

pub(super) struct Compiler<'v> {
    pub vm: &'v Vm,
    pub scope: Scope,
    pub code: Vec<Instruction>,
    states_at: Vec<StateId>,
    waits_at: Vec<StateId>,
    states: Vec<State>,
    sites: Vec<Site>,
    /// For each instruction, the message it stands for.
    messages_at: Vec<Handle>,
    /// The message that is being compiled.
    pub about: Handle,
    locals: Vec<Symbol>,
    pub assigned: Vec<bool>,
    pub messages: Vec<Handle>,
    /// The first register that holds nothing.
    pub top: usize,
    registers: usize,
    /// Fuel of messages that no instruction carries yet.
    pub fuel: i16,
    /// Where the tree was when that fuel began to be owed: whoever leaves before it is paid does all of it again.
    unpaid: StateId,
    /// The instruction may be done twice: what is owed is left to one that comes after.
    quiet: bool,
    /// Where the tree would be before the next instruction, but for what is owed.
    pub state: StateId,
    /// The contexts around the chain that is being compiled.
    pub parent: Option<StateId>,
    pub loops: Vec<Loop>,
    /// Assignments around the chain: a stop that passes one still lets it assign, which is the tree's business.
    pub assignments: usize,
    pub nesting: usize,
    /// The last place that a jump leads to: no instruction before it may be merged with one after.
    pub label: usize,
}

/// The unit of a body with these arguments, unless it is too big or needs its call.
pub fn compile(vm: &Vm, body: Handle, arguments: &[Symbol]) -> Option<Unit> {
    if !is_tree(&vm.heap, vec![body]) {
        return None;
    }
    let locals = local_names(vm, body, arguments)?;
    let mut compiler = Compiler::new(vm, Scope::Body, body, locals, arguments.len());
    compiler.body(body).ok()?;
    compiler.finish(body, arguments.len())
}

/// The unit of a message that is evaluated in an object: its chain, or it alone.
pub fn compile_in_context(vm: &Vm, message: Handle, scope: Scope) -> Option<Unit> {
    let alone = scope == Scope::Message;
    if !is_tree(&vm.heap, if alone { message::arguments(&vm.heap, message) } else { vec![message] }) {
        return None;
    }
    let mut compiler = Compiler::new(vm, scope, message, Vec::new(), 0);
    compiler.top = 2;
    match scope {
        Scope::Message => compiler.one(message).ok()?,
        _ => compiler.body(message).ok()?,
    }
    compiler.finish(message, 0)
}

impl<'v> Compiler<'v> {
    fn new(vm: &'v Vm, scope: Scope, body: Handle, locals: Vec<Symbol>, arguments: usize) -> Compiler<'v> {
        Compiler {
            vm,
            scope,
            code: Vec::new(),
            states_at: Vec::new(),
            waits_at: Vec::new(),
            states: Vec::new(),
            sites: Vec::new(),
            messages_at: Vec::new(),
            about: body,
            assigned: (0..locals.len()).map(|index| index < arguments).collect(),
            top: locals.len() + 1,
            registers: locals.len() + 4,
            locals,
            messages: Vec::new(),
            fuel: 0,
            unpaid: StateId(0),
            quiet: false,
            state: StateId(0),
            parent: None,
            loops: Vec::new(),
            assignments: 0,
            nesting: 0,
            label: 0,
        }
    }
}

/// From the fuel of each instruction, what each place owes and what is paid on the way: see `instruction`. None if a
/// unit could owe more than there is credit for.
fn share_out_fuel(code: &mut [Instruction]) -> Option<Vec<u16>> {
    let mut owed_at = vec![0];
    let mut owed: u16 = 0;
    for instruction in &*code {
        let first_round = (instruction.op.begins_round() == Some(Round::First)) as u16;
        owed = owed.checked_add(instruction.fuel as u16)?.checked_add(first_round)?;
        owed_at.push(owed);
    }
    if u64::from(owed) > CREDIT {
        return None;
    }
    for (place, instruction) in code.iter_mut().enumerate() {
        let behind = owed_at[place + 1] as i16;
        let (op, target) = (instruction.op, instruction.x as usize);
        let round = match op.begins_round() {
            Some(Round::First) => -1,
            Some(Round::Next) => 1,
            None => 0,
        };
        instruction.fuel = if op.is_jump() { behind + round - owed_at[target] as i16 } else { behind };
    }
    Some(owed_at)
}

/// Whether no message is met twice: a program may make one follow itself, and the compiler would never come to an end.
fn is_tree(heap: &Heap, mut pending: Vec<Handle>) -> bool {
    let mut seen = FxHashSet::default();
    while let Some(message) = pending.pop() {
        if !seen.insert(message) || seen.len() > MESSAGES_MAX {
            return false;
        }
        pending.extend(message::next(heap, message));
        pending.extend(message::arguments(heap, message));
    }
    true
}

/// Arguments, then every name that the body may make a local. None if the body asks for its call.
fn local_names(vm: &Vm, body: Handle, arguments: &[Symbol]) -> Option<Vec<Symbol>> {
    let heap = &vm.heap;
    let mut names = arguments.to_vec();
    let mut pending = vec![(body, true)];
    while let Some((message, begins)) = pending.pop() {
        let name = message::name(heap, message);
        // By its name, or through getSlot("call") and the like. Who keeps it may ask for its sender after the return.
        let literal = message::literal(heap, message);
        if (begins && name == vm.names.call) || literal == Some(Value::object(vm.names.call)) {
            return None;
        }
        pending.extend(message::next(heap, message).map(|next| (next, name == vm.names.semicolon)));
        let text = heap.symbol_text(name);
        let made: &[Handle] = &match &*text {
            "setSlot" => assigned_name(heap, message).into_iter().collect(),
            "for" | "repeat" | "foreach" => loop_names(heap, message),
            _ => Vec::new(),
        };
        for &name in made {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        // What a method or block assigns is its own.
        if !matches!(&*text, "method" | "block") {
            pending.extend(message::arguments(heap, message).into_iter().map(|argument| (argument, true)));
        }
    }
    (names.len() < REGISTERS_MAX / 2).then_some(names)
}

/// The name in setSlot("name", value).
fn assigned_name(heap: &Heap, message: Handle) -> Option<Symbol> {
    let name = message::argument(heap, message, 0)?;
    let literal = message::literal(heap, name)?.as_handle()?;
    (message::next(heap, name).is_none() && heap.sequence(literal).is_some()).then_some(literal)
}

/// The variables of for(i, …), foreach(i, v, …) and repeat(i, …): all arguments but the last that are bare names.
fn loop_names(heap: &Heap, message: Handle) -> Vec<Symbol> {
    let arguments = message::arguments(heap, message);
    let bare = |&argument: &Handle| {
        message::next(heap, argument).is_none()
            && message::argument_count(heap, argument) == 0
            && message::literal(heap, argument).is_none()
    };
    let candidates = &arguments[..arguments.len().saturating_sub(1).min(2)];
    candidates.iter().filter(|argument| bare(argument)).map(|&argument| message::name(heap, argument)).collect()
}

impl Compiler<'_> {
    pub fn heap(&self) -> &Heap {
        &self.vm.heap
    }

    fn body(&mut self, body: Handle) -> Compiled<()> {
        let value = self.chain(body, true)?;
        if value != Operand::Dead {
            let register = self.register(value)?;
            self.emit(Op::Return, 0, register, 0, 0, Value::NIL)?;
        }
        Ok(())
    }

    /// A loop whose own message the tree has paid for already, and whose receiver it has found.
    fn one(&mut self, message: Handle) -> Compiled<()> {
        self.messages.push(message);
        self.about = message;
        let name = self.heap().symbol_text(message::name(self.heap(), message)).into_owned();
        let to_receiver = matches!(&*name, "foreach" | "repeat");
        let target = if to_receiver { Source::Register(1) } else { Source::Locals };
        self.stand(Context::Ready { message, target });
        let value = match to_receiver {
            true => self.sent_to_value(message, Operand::Value(1), 2, true)?,
            false => self.sent_to_locals(message, 2, true)?,
        };
        if value != Operand::Dead {
            let register = self.register(value)?;
            self.emit(Op::Return, 0, register, 0, 0, Value::NIL)?;
        }
        Ok(())
    }

    fn finish(mut self, body: Handle, argument_count: usize) -> Option<Unit> {
        let owed_at = share_out_fuel(&mut self.code)?;
        Some(Unit {
            owed_at,
            scope: self.scope,
            code: self.code,
            states_at: self.states_at,
            waits_at: self.waits_at,
            states: self.states,
            sites: self.sites,
            messages_at: self.messages_at,
            names: self.locals,
            argument_count,
            registers: self.registers,
            body,
            messages: self.messages,
            used: Cell::new(true),
        })
    }

    // ---- emitting

    pub fn emit(&mut self, op: Op, a: usize, b: u8, c: u8, x: usize, value: Value) -> Compiled<usize> {
        if self.code.len() >= CODE_MAX {
            return Err(TooBig);
        }
        let before = if self.fuel > 0 { self.unpaid } else { self.state };
        let fuel = if self.quiet { 0 } else { std::mem::take(&mut self.fuel) };
        self.code.push(Instruction { op, a: a as u8, b, c, fuel, x: x as u16, value });
        self.states_at.push(before);
        let waits = matches!(op, Op::Get | Op::GetOfLocal | Op::Send | Op::SendSelf | Op::Call);
        let waiting =
            if waits { self.push_state(Context::Result { message: self.about }, self.parent) } else { before };
        self.waits_at.push(waiting);
        self.messages_at.push(self.about);
        Ok(self.code.len() - 1)
    }

    /// Messages whose fuel the next instruction shall carry.
    pub fn owe(&mut self, messages: i16) {
        if self.fuel == 0 {
            self.unpaid = self.state;
        }
        self.fuel += messages;
    }

    /// Emits what may be done twice: its fuel is left to an instruction that comes after.
    pub fn quietly<T>(&mut self, emit: impl FnOnce(&mut Self) -> Compiled<T>) -> Compiled<T> {
        let outer = std::mem::replace(&mut self.quiet, true);
        let emitted = emit(self);
        self.quiet = outer;
        emitted
    }

    pub(super) fn emit_quietly(&mut self, op: Op, a: usize, b: u8, c: u8, value: Value) -> Compiled<()> {
        self.quietly(|compiler| compiler.emit(op, a, b, c, 0, value).map(|_| ()))
    }

    pub fn push_state(&mut self, context: Context, parent: Option<StateId>) -> StateId {
        self.states.push(State { context, parent });
        StateId(self.states.len() as u32 - 1)
    }

    /// From here on the tree would stand at this context of the present chain.
    pub fn stand(&mut self, context: Context) {
        self.state = self.push_state(context, self.parent);
    }

    pub fn new_site(&mut self, name: Symbol, message: Handle) -> usize {
        self.sites.push(Site::new(name, message));
        self.sites.len() - 1
    }

    /// Makes jumps lead here.
    pub fn land(&mut self, jumps: &[usize]) {
        self.label = self.code.len();
        for &jump in jumps {
            let place = self.code.len();
            let instruction = &mut self.code[jump];
            match instruction.op {
                Op::Find | Op::FindSelf => instruction.value = Value::number(place as f64),
                _ => instruction.x = place as u16,
            }
        }
    }

    pub fn claim(&mut self, register: usize) -> Compiled<()> {
        if register >= REGISTERS_MAX {
            return Err(TooBig);
        }
        self.registers = self.registers.max(register + 2);
        Ok(())
    }

    pub fn leave(&mut self) -> Compiled<Operand> {
        self.emit(Op::Leave, 0, 0, 0, 0, Value::NIL)?;
        Ok(Operand::Dead)
    }

    // ---- operands

    /// Puts a value into a register; reading a local is checked.
    pub fn place(&mut self, operand: Operand, register: usize) -> Compiled<()> {
        self.claim(register)?;
        match operand {
            Operand::Constant(value) => {
                self.emit(Op::Constant, register, 0, 0, 0, value)?;
            }
            Operand::Local(from) => {
                self.emit(Op::Load, register, from, 0, 0, Value::NIL)?;
            }
            Operand::Value(from) if from as usize != register => {
                self.emit(Op::Move, register, from, 0, 0, Value::NIL)?;
            }
            Operand::Value(_) | Operand::Dead => {}
        }
        Ok(())
    }

    /// The register of a value, a new one if it has none.
    pub fn register(&mut self, operand: Operand) -> Compiled<u8> {
        match operand {
            Operand::Value(register) => Ok(register),
            other => {
                let register = self.top;
                self.place(other, register)?;
                Ok(register as u8)
            }
        }
    }

    pub fn source(&self, operand: Operand) -> Source {
        match operand {
            Operand::Constant(value) => Source::Constant(value),
            Operand::Local(register) | Operand::Value(register) => Source::Register(register),
            Operand::Dead => Source::Constant(Value::NIL),
        }
    }

    /// The register of a local; of two arguments with one name, the last is meant.
    pub fn local(&self, name: Symbol) -> Option<u8> {
        self.locals.iter().rposition(|&each| each == name).map(|index| index as u8 + 1)
    }

    pub fn local_count(&self) -> usize {
        self.locals.len()
    }

    pub fn is_assigned(&self, register: u8) -> bool {
        register == 0 || self.assigned[register as usize - 1]
    }

    pub fn assign(&mut self, register: u8) {
        self.assigned[register as usize - 1] = true;
    }

    /// Whether a name still means in Locals, Number and List what it meant at first. Code that relies on it looks no more.
    pub fn is_built_in(&self, name: Symbol) -> bool {
        let protos = &self.vm.protos;
        [protos.locals, protos.number, protos.list].iter().for_each(|&watched| self.vm.heap.note_known(watched, name));
        !self.vm.units.redefined.contains(&name)
    }

    pub fn note(&mut self, message: Handle) {
        self.messages.push(message);
    }

    pub fn assigned_name(&self, message: Handle) -> Option<Symbol> {
        assigned_name(self.heap(), message)
    }
}
