//! From a message tree to instructions. Owns which register holds what, and what each instruction means in the tree.
//!
//! Fuel is carried by the instruction that does the work; its state is always the point from which the tree would do,
//! and pay for, everything that was not yet executed.

use super::Unit;
use super::instruction::{Instruction, Op};
use super::site::Site;
use super::state::{Context, Source, State, StateId};
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
const NESTING_MAX: usize = 48;
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
    messages: Vec<Handle>,
    /// The first register that holds nothing.
    pub top: usize,
    registers: usize,
    /// Fuel of messages that no instruction carries yet.
    pub fuel: u16,
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
    nesting: usize,
    /// The last place that a jump leads to: no instruction before it may be merged with one after.
    pub label: usize,
}

/// The unit of a body with these arguments, unless it is too big or needs its call.
pub fn compile(vm: &Vm, body: Handle, arguments: &[Symbol]) -> Option<Unit> {
    let locals = local_names(vm, body, arguments)?;
    let mut compiler = Compiler {
        vm,
        code: Vec::new(),
        states_at: Vec::new(),
        waits_at: Vec::new(),
        states: Vec::new(),
        sites: Vec::new(),
        messages_at: Vec::new(),
        about: body,
        assigned: (0..locals.len()).map(|index| index < arguments.len()).collect(),
        top: locals.len() + 1,
        registers: locals.len() + 2,
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
    };
    compiler.body(body).ok()?;
    Some(compiler.finish(body, arguments.len()))
}

/// Arguments, then every name that the body may make a local. None if the body asks for its call, or is too big.
fn local_names(vm: &Vm, body: Handle, arguments: &[Symbol]) -> Option<Vec<Symbol>> {
    let heap = &vm.heap;
    let mut names = arguments.to_vec();
    let mut seen = FxHashSet::default();
    let mut pending = vec![body];
    while let Some(message) = pending.pop() {
        if !seen.insert(message) || seen.len() > MESSAGES_MAX {
            return None;
        }
        let name = message::name(heap, message);
        if name == vm.names.call {
            return None;
        }
        pending.extend(message::next(heap, message));
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
            pending.extend(message::arguments(heap, message));
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

    fn finish(self, body: Handle, argument_count: usize) -> Unit {
        Unit {
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
            valid: Cell::new(true),
            used: Cell::new(true),
        }
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
        let waits = matches!(op, Op::Send | Op::SendSelf | Op::Call);
        let waiting =
            if waits { self.push_state(Context::Result { message: self.about }, self.parent) } else { before };
        self.waits_at.push(waiting);
        self.messages_at.push(self.about);
        Ok(self.code.len() - 1)
    }

    /// Messages whose fuel the next instruction shall carry.
    pub fn owe(&mut self, messages: u16) {
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

    fn emit_quietly(&mut self, op: Op, a: usize, b: u8, c: u8, value: Value) -> Compiled<()> {
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

    /// Whether a name still means in Locals and Number what it meant at first.
    pub fn is_built_in(&self, name: Symbol) -> bool {
        !self.vm.units.redefined.contains(&name)
    }

    // ---- chains

    /// Statement after statement; the value of the last.
    pub fn chain(&mut self, first: Handle, wanted: bool) -> Compiled<Operand> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(TooBig);
        }
        let base = self.top;
        let mut statement = first;
        let value = loop {
            self.top = base;
            let end = self.next_statement(statement);
            let value = self.statement(statement, wanted && end.is_none())?;
            if value == Operand::Dead {
                break value;
            }
            match end {
                Some(next) => statement = next,
                None => break value,
            }
        };
        self.nesting -= 1;
        Ok(value)
    }

    /// The first message of the next statement, if there is one.
    fn next_statement(&self, first: Handle) -> Option<Handle> {
        let mut message = first;
        while let Some(next) = message::next(self.heap(), message) {
            if message::name(self.heap(), next) == self.vm.names.semicolon {
                return message::next(self.heap(), next);
            }
            message = next;
        }
        None
    }

    fn statement(&mut self, first: Handle, wanted: bool) -> Compiled<Operand> {
        let base = self.top;
        self.stand(Context::Ready { message: first, target: Source::Locals });
        let mut value: Option<Operand> = None;
        let mut message = first;
        loop {
            if message::name(self.heap(), message) == self.vm.names.semicolon {
                // A chain that begins or ends with a semicolon answers its locals.
                return self.leave();
            }
            let next = message::next(self.heap(), message);
            let next_sends = next.filter(|&next| message::name(self.heap(), next) != self.vm.names.semicolon);
            if next.is_some()
                && next_sends.is_none()
                && next.and_then(|next| message::next(self.heap(), next)).is_none()
            {
                return self.leave();
            }
            self.messages.push(message);
            self.messages.extend(next.filter(|_| next_sends.is_none()));
            self.top = base;
            let emitted = self.code.len();
            let answer = self.message(message, value, base, wanted || next_sends.is_some())?;
            if answer == Operand::Dead {
                return Ok(answer);
            }
            let answer = if next_sends.is_some() { self.settled(answer, base)? } else { answer };
            value = Some(answer);
            match next_sends {
                Some(next) => {
                    if self.code.len() > emitted && self.fuel == 0 {
                        let target = self.source(answer);
                        self.stand(Context::Ready { message: next, target });
                    }
                    message = next;
                }
                None => return Ok(answer),
            }
        }
    }

    /// A receiver that what is computed behind `base` cannot overwrite.
    fn settled(&mut self, answer: Operand, base: usize) -> Compiled<Operand> {
        match answer {
            Operand::Value(register) if register as usize > base => {
                self.emit_quietly(Op::Move, base, register, 0, Value::NIL)?;
                Ok(Operand::Value(base as u8))
            }
            other => Ok(other),
        }
    }

    fn message(&mut self, message: Handle, target: Option<Operand>, base: usize, wanted: bool) -> Compiled<Operand> {
        self.owe(1);
        self.about = message;
        if let Some(value) = message::literal(self.heap(), message) {
            if let Some(Operand::Local(_)) = target {
                self.register(target.unwrap_or(Operand::Dead))?;
            }
            return Ok(Operand::Constant(value));
        }
        match target {
            None => self.to_locals(message, base, wanted),
            Some(target) => self.to_value(message, target, base, wanted),
        }
    }

    /// A message at the start of a statement.
    fn to_locals(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let name = message::name(self.heap(), message);
        let count = message::argument_count(self.heap(), message);
        if let Some(register) = self.local(name) {
            return match (count, self.is_assigned(register)) {
                (0, true) => Ok(Operand::Local(register)),
                (0, false) => {
                    self.place(Operand::Local(register), base)?;
                    Ok(Operand::Value(base as u8))
                }
                _ => self.leave(),
            };
        }
        if name == self.vm.names.self_ && count == 0 {
            return Ok(Operand::Local(0));
        }
        if self.is_built_in(name) {
            let text = self.heap().symbol_text(name).into_owned();
            if let Some(value) = self.control(&text, message, count, base, wanted)? {
                return Ok(value);
            }
        }
        self.send(message, None, base)
    }

    fn to_value(&mut self, message: Handle, target: Operand, base: usize, wanted: bool) -> Compiled<Operand> {
        let name = message::name(self.heap(), message);
        let count = message::argument_count(self.heap(), message);
        let expected = self.is_built_in(name) && !self.vm.units.surprises.contains(&message);
        let text = self.heap().symbol_text(name).into_owned();
        let number_like = message::argument(self.heap(), message, 0).is_some_and(|argument| !self.is_text(argument));
        if count == 1 && expected && number_like && arithmetic(&text).is_some() {
            return self.arithmetic(message, target, base);
        }
        match (&*text, count) {
            ("setSlot" | "updateSlot", 2) if assigned_name(self.heap(), message).is_some() => {
                self.write_slot(message, target, base, &text)
            }
            ("foreach", 2 | 3) if expected => self.foreach(message, target, base, wanted),
            ("repeat", 1 | 2) if expected => self.repeat(message, target, base, wanted),
            _ => self.send(message, Some(target), base),
        }
    }

    // ---- arithmetic

    fn arithmetic(&mut self, message: Handle, target: Operand, base: usize) -> Compiled<Operand> {
        let name = message::name(self.heap(), message);
        let text = self.heap().symbol_text(name).into_owned();
        let (Some((op, with_constant)), Some(argument)) =
            (arithmetic(&text), message::argument(self.heap(), message, 0))
        else {
            return self.send(message, Some(target), base);
        };
        self.claim(base + 2)?;
        if self.is_pure(argument, 0) {
            let left = self.operand_register(target, base)?;
            self.top = base + 1;
            let right = self.pure(argument)?;
            self.about = message;
            match right {
                Operand::Constant(value) if value.is_number() => {
                    self.emit(with_constant, base, left, 0, 0, value)?;
                }
                // Not reached: what is no number is sent as any other message.
                Operand::Constant(_) | Operand::Dead => return Err(TooBig),
                Operand::Local(right) | Operand::Value(right) => {
                    self.emit(op, base, left, right, 0, Value::NIL)?;
                }
            }
            return Ok(Operand::Value(base as u8));
        }
        // The left side must not change while the right side is evaluated.
        let left = self.operand_register(target, base)?;
        self.emit(Op::Number, base, left, 0, 0, Value::NIL)?;
        let holder = Source::Register(base as u8);
        let right =
            self.nested(argument, Context::Argument { message, callee: None, target: holder, done: vec![] }, base + 1)?;
        if right == Operand::Dead {
            return Ok(right);
        }
        self.place(right, base + 1)?;
        let done = vec![Source::Register(base as u8 + 1)];
        self.stand(Context::Argument { message, callee: None, target: holder, done });
        self.about = message;
        self.emit(op, base, base as u8, base as u8 + 1, 0, Value::NIL)?;
        Ok(Operand::Value(base as u8))
    }

    /// A register to compute with: a local's own, since what computes checks.
    fn operand_register(&mut self, operand: Operand, base: usize) -> Compiled<u8> {
        match operand {
            Operand::Local(register) | Operand::Value(register) => Ok(register),
            Operand::Constant(value) => {
                self.claim(base)?;
                self.emit_quietly(Op::Constant, base, 0, 0, value)?;
                Ok(base as u8)
            }
            Operand::Dead => Ok(base as u8),
        }
    }

    /// Whether a chain has no effect as long as its numbers are numbers: constants, locals and arithmetic on them.
    pub fn is_pure(&self, first: Handle, depth: usize) -> bool {
        let heap = self.heap();
        if depth > 8 {
            return false;
        }
        let mut message = first;
        let mut is_first = true;
        loop {
            let name = message::name(heap, message);
            let count = message::argument_count(heap, message);
            let pure = if message::literal(heap, message).is_some() {
                is_first && count == 0
            } else if is_first {
                match (self.local(name), count) {
                    (Some(register), 0) => self.is_assigned(register),
                    (None, 0) => name == self.vm.names.self_,
                    (None, 1) if name == self.vm.names.empty && self.is_built_in(name) => {
                        message::argument(heap, message, 0).is_some_and(|argument| self.is_pure(argument, depth + 1))
                    }
                    _ => false,
                }
            } else {
                count == 1
                    && arithmetic(&heap.symbol_text(name)).is_some()
                    && self.is_built_in(name)
                    && !self.vm.units.surprises.contains(&message)
                    && message::argument(heap, message, 0)
                        .is_some_and(|argument| self.is_pure(argument, depth + 1) && !self.is_text(argument))
            };
            if !pure {
                return false;
            }
            match message::next(heap, message) {
                Some(next) => message = next,
                None => return true,
            }
            is_first = false;
        }
    }

    fn is_text(&self, argument: Handle) -> bool {
        message::literal(self.heap(), argument).is_some_and(|literal| !literal.is_number())
    }

    /// Compiles a pure chain. Its instructions carry no fuel: what uses them does.
    pub fn pure(&mut self, first: Handle) -> Compiled<Operand> {
        let base = self.top;
        self.claim(base + 1)?;
        let mut value = Operand::Dead;
        let mut message = first;
        loop {
            self.owe(1);
            self.messages.push(message);
            self.top = base;
            let heap = self.heap();
            let name = message::name(heap, message);
            let argument = message::argument(heap, message, 0);
            value = match (message::literal(heap, message), value, argument) {
                (Some(literal), _, _) => Operand::Constant(literal),
                (None, Operand::Dead, None) => Operand::Local(self.local(name).unwrap_or(0)),
                (None, Operand::Dead, Some(group)) => self.pure(group)?,
                (None, left, Some(argument)) => self.pure_arithmetic(message, left, argument, base)?,
                (None, left, None) => left,
            };
            match message::next(self.heap(), message) {
                Some(next) => message = next,
                None => return Ok(value),
            }
        }
    }

    fn pure_arithmetic(&mut self, message: Handle, left: Operand, argument: Handle, base: usize) -> Compiled<Operand> {
        let left = self.operand_register(left, base)?;
        self.top = base + 1;
        let right = self.pure(argument)?;
        self.about = message;
        let name = self.heap().symbol_text(message::name(self.heap(), message));
        let Some((op, with_constant)) = arithmetic(&name) else { return Err(TooBig) };
        match right {
            Operand::Constant(value) => self.emit_quietly(with_constant, base, left, 0, value)?,
            Operand::Local(right) | Operand::Value(right) => self.emit_quietly(op, base, left, right, Value::NIL)?,
            Operand::Dead => {}
        }
        Ok(Operand::Value(base as u8))
    }

    // ---- sends

    /// A message to whatever answers it: `[callee, target, arguments…]` from `base`, the answer to `base`.
    pub fn send(&mut self, message: Handle, target: Option<Operand>, base: usize) -> Compiled<Operand> {
        let arguments = message::arguments(self.heap(), message);
        let count = arguments.len();
        self.claim(base + count + 2)?;
        let site = self.new_site(message::name(self.heap(), message), message);
        if site > u16::MAX as usize || count > 100 {
            return Err(TooBig);
        }
        let register = match target {
            None => 0,
            Some(Operand::Local(local)) => {
                self.emit_quietly(Op::Load, base + 1, local, 0, Value::NIL)?;
                base as u8 + 1
            }
            Some(Operand::Constant(value)) => {
                self.emit_quietly(Op::Constant, base + 1, 0, 0, value)?;
                base as u8 + 1
            }
            Some(Operand::Value(register)) => register,
            Some(Operand::Dead) => return Ok(Operand::Dead),
        };
        if arguments.iter().all(|&argument| self.is_pure(argument, 0)) {
            let paid = self.fuel;
            for (index, &argument) in arguments.iter().enumerate() {
                self.top = base + 2 + index;
                let value = self.pure(argument)?;
                self.place_quietly(value, base + 2 + index)?;
            }
            let op = if target.is_some() { Op::Send } else { Op::SendSelf };
            self.about = message;
            let for_arguments = Value::number((self.fuel - paid) as f64);
            self.emit(op, base, register, count as u8, site, for_arguments)?;
            return Ok(Operand::Value(base as u8));
        }
        let op = if target.is_some() { Op::Find } else { Op::FindSelf };
        let find = self.emit(op, base, register, count as u8, site, Value::NIL)?;
        if self.gather(message, &arguments, base)? {
            self.about = message;
            self.emit(Op::Call, base, 0, count as u8, site, Value::NIL)?;
        }
        self.land(&[find]);
        Ok(Operand::Value(base as u8))
    }

    /// Evaluates arguments into `base + 2` and on. False if the code does not come out at the end.
    fn gather(&mut self, message: Handle, arguments: &[Handle], base: usize) -> Compiled<bool> {
        let (callee, target) = (Some(Source::Register(base as u8)), Source::Register(base as u8 + 1));
        for (index, &argument) in arguments.iter().enumerate() {
            let done = (0..index).map(|each| Source::Register((base + 2 + each) as u8)).collect();
            let value = self.nested(argument, Context::Argument { message, callee, target, done }, base + 2 + index)?;
            if value == Operand::Dead {
                return Ok(false);
            }
            self.place(value, base + 2 + index)?;
        }
        let done = (0..arguments.len()).map(|each| Source::Register((base + 2 + each) as u8)).collect();
        self.stand(Context::Argument { message, callee, target, done });
        Ok(true)
    }

    fn place_quietly(&mut self, operand: Operand, register: usize) -> Compiled<()> {
        self.quietly(|compiler| compiler.place(operand, register))
    }

    /// Compiles a chain inside a context of the present one, with `base` as its first free register.
    pub fn nested(&mut self, first: Handle, context: Context, base: usize) -> Compiled<Operand> {
        let outer = self.parent;
        let context = self.push_state(context, outer);
        self.within(context, first, base, true)
    }

    /// The same for what is to be assigned.
    pub fn nested_assigned(&mut self, first: Handle, context: Context, base: usize) -> Compiled<Operand> {
        self.assignments += 1;
        let value = self.nested(first, context, base)?;
        self.assignments -= 1;
        Ok(value)
    }

    /// Compiles a chain whose parent is a state that is already there.
    pub fn within(&mut self, context: StateId, first: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let outer = self.parent;
        self.parent = Some(context);
        self.top = base;
        self.claim(base + 1)?;
        let value = self.chain(first, wanted)?;
        if value != Operand::Dead && self.fuel == 0 {
            let value = self.source(value);
            self.state = self.push_state(Context::Deliver { value }, Some(context));
        }
        self.parent = outer;
        Ok(value)
    }

    /// `receiver name = value` and `receiver name := value`.
    fn write_slot(&mut self, message: Handle, target: Operand, base: usize, text: &str) -> Compiled<Operand> {
        let (Some(name), Some(value), Some(name_message)) = (
            assigned_name(self.heap(), message),
            message::argument(self.heap(), message, 1),
            message::argument(self.heap(), message, 0),
        ) else {
            return self.send(message, Some(target), base);
        };
        self.claim(base + 3)?;
        self.messages.push(name_message);
        let site = self.new_site(name, message);
        let op = if text == "setSlot" { Op::SetSlot } else { Op::UpdateSlot };
        let receiver = match target {
            Operand::Value(register) => register,
            other => {
                self.place_quietly(other, base + 1)?;
                base as u8 + 1
            }
        };
        self.owe(1);
        if self.is_pure(value, 0) {
            self.top = base + 2;
            let value = self.pure(value)?;
            let value = match value {
                Operand::Value(register) => register,
                other => {
                    self.place_quietly(other, base + 2)?;
                    base as u8 + 2
                }
            };
            self.emit(op, base, receiver, value, site, Value::NIL)?;
            return Ok(Operand::Value(value));
        }
        // The receiver must stay what it was.
        self.emit(Op::Move, base + 1, receiver, 0, 0, Value::NIL)?;
        let target = Source::Register(base as u8 + 1);
        let key = Source::Constant(Value::object(name));
        let context = Context::Argument { message, callee: None, target, done: vec![key] };
        let answer = self.nested_assigned(value, context, base + 2)?;
        if answer == Operand::Dead {
            return Ok(answer);
        }
        self.place(answer, base + 2)?;
        let done = vec![key, Source::Register(base as u8 + 2)];
        self.stand(Context::Argument { message, callee: None, target, done });
        self.emit(op, base, base as u8 + 1, base as u8 + 2, site, Value::NIL)?;
        Ok(Operand::Value(base as u8 + 2))
    }

    pub fn note(&mut self, message: Handle) {
        self.messages.push(message);
    }

    pub fn assigned_name(&self, message: Handle) -> Option<Symbol> {
        assigned_name(self.heap(), message)
    }
}

/// The instructions of an arithmetic message: with a register, with a constant.
pub(super) fn arithmetic(name: &str) -> Option<(Op, Op)> {
    Some(match name {
        "+" => (Op::Add, Op::AddConstant),
        "-" => (Op::Subtract, Op::SubtractConstant),
        "*" => (Op::Multiply, Op::MultiplyConstant),
        "/" => (Op::Divide, Op::DivideConstant),
        "%" => (Op::Modulo, Op::ModuloConstant),
        "<" => (Op::Less, Op::LessConstant),
        ">" => (Op::Greater, Op::GreaterConstant),
        "<=" => (Op::LessEqual, Op::LessEqualConstant),
        ">=" => (Op::GreaterEqual, Op::GreaterEqualConstant),
        "==" => (Op::Equal, Op::EqualConstant),
        "!=" => (Op::NotEqual, Op::NotEqualConstant),
        _ => return None,
    })
}
