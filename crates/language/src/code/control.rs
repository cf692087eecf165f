//! Control flow compiled in place: groups, assignment, if and the stops; the loops are in `loops`.

use super::Scope;
use super::compile::{Compiled, Compiler, Loop, Operand};
use super::instruction::Op;
use super::state::{Context, Source, StateId};
use crate::machine::frame::Native;
use crate::message;
use object::{Handle, Value};

impl Compiler<'_> {
    /// A message that Locals answer with control flow. None if it is not one of those.
    pub fn control(
        &mut self,
        name: &str,
        message: Handle,
        count: usize,
        base: usize,
        wanted: bool,
    ) -> Compiled<Option<Operand>> {
        Ok(Some(match (name, count) {
            ("", 1) => self.group(message, base)?,
            ("setSlot" | "updateSlot", 2) if self.assigned_name(message).is_some() => self.assignment(message, base)?,
            ("setSlotWithType", _) => self.leave()?,
            ("if", 1..=3) => self.if_(message, base, wanted)?,
            ("while", 2) => self.while_(message, base, wanted)?,
            ("loop", 1) => self.loop_(message, base, wanted)?,
            ("for", 4 | 5) => self.for_(message, base, wanted)?,
            ("return" | "break" | "continue", 0 | 1) => self.stop(name, message, base)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn argument(&self, message: Handle, index: usize) -> Handle {
        message::argument(self.heap(), message, index).unwrap_or(message)
    }

    fn group(&mut self, message: Handle, base: usize) -> Compiled<Operand> {
        let inner = self.argument(message, 0);
        if self.is_pure(inner, 0) {
            self.top = base;
            return self.pure(inner);
        }
        self.nested(inner, Context::Result { message }, base)
    }

    // ---- assignment

    fn assignment(&mut self, message: Handle, base: usize) -> Compiled<Operand> {
        let Some(name) = self.assigned_name(message) else { return self.leave() };
        let updates = message::name(self.heap(), message) == self.vm.names.update_slot;
        match self.local(name) {
            Some(register) if !updates || self.is_assigned(register) => {
                self.assign_local(message, register, Value::object(name), base)
            }
            Some(_) => self.leave(),
            None if name == self.vm.names.self_ => self.leave(),
            None => self.update_beyond(message, Value::object(name), base),
        }
    }

    fn assign_local(&mut self, message: Handle, register: u8, name: Value, base: usize) -> Compiled<Operand> {
        let value = self.assigned_value(message, name, base)?;
        if value == Operand::Dead {
            return Ok(value);
        }
        match value {
            Operand::Value(from) if self.redirect(from, register) => {}
            other => self.place(other, register as usize)?,
        }
        self.assign(register);
        Ok(Operand::Value(register))
    }

    /// Compiles the right side of an assignment.
    fn assigned_value(&mut self, message: Handle, name: Value, base: usize) -> Compiled<Operand> {
        let (left, right) = (self.argument(message, 0), self.argument(message, 1));
        self.note(left);
        self.owe(1);
        if self.is_pure(right, 0) {
            self.top = base;
            return self.pure(right);
        }
        let done = vec![Source::Constant(name)];
        // Two registers to spare, so that the tree's values have room if the frame leaves meanwhile.
        self.nested_assigned(right, Context::Argument { message, callee: None, target: Source::Locals, done }, base + 2)
    }

    /// Lets the arithmetic that was just compiled write to a local at once.
    fn redirect(&mut self, from: u8, to: u8) -> bool {
        let end = self.code.len();
        let fuel = self.fuel;
        // A local that was assigned as well keeps what it was given: `a := b := 1 + 2`.
        let is_temporary = from as usize > self.local_count();
        match self.code.last_mut() {
            Some(last) if last.a == from && last.op.is_arithmetic() && self.label < end && is_temporary => {
                last.a = to;
                last.fuel += fuel;
                self.fuel = 0;
                true
            }
            _ => false,
        }
    }

    /// `name = value` for a name that is no local: whatever the locals stand for has it.
    fn update_beyond(&mut self, message: Handle, name: Value, base: usize) -> Compiled<Operand> {
        let value = self.assigned_value(message, name, base)?;
        if value == Operand::Dead {
            return Ok(value);
        }
        self.top = base;
        let repeatable = self.fuel > 0;
        let register = match value {
            Operand::Value(register) => register,
            other => {
                self.quietly(|compiler| compiler.place(other, base))?;
                base as u8
            }
        };
        if !repeatable {
            let done = vec![Source::Constant(name), Source::Register(register)];
            self.stand(Context::Argument { message, callee: None, target: Source::Locals, done });
        }
        let site = self.new_site(name.as_handle().unwrap_or(message), message);
        self.emit(Op::UpdateSelf, base, 0, register, site, Value::NIL)?;
        Ok(Operand::Value(register))
    }

    // ---- branches

    /// Jumps away unless the operand is true; a comparison that was just compiled becomes the jump.
    pub(super) fn jump_unless(&mut self, operand: Operand, base: usize) -> Compiled<usize> {
        let end = self.code.len();
        let fuel = self.fuel;
        // A local that the truth was assigned to as well keeps it: `if(v := i < 4, v)`.
        let locals = self.local_count();
        if let (Operand::Value(register), Some(last)) = (operand, self.code.last_mut())
            && last.a == register
            && register as usize > locals
            && self.label < end
            && let Some(op) = last.op.as_jump()
        {
            last.op = op;
            last.fuel += fuel;
            self.fuel = 0;
            return Ok(end - 1);
        }
        self.top = base;
        let register = self.register(operand)?;
        self.emit(Op::JumpUnless, 0, register, 0, 0, Value::NIL)
    }

    /// Ends a branch or body: its value to where it is wanted, and no fuel left over.
    pub(super) fn settle(&mut self, value: Operand, to: usize, wanted: bool) -> Compiled<()> {
        match value {
            Operand::Value(_) if !wanted && self.fuel == 0 => return Ok(()),
            other => self.place(other, to)?,
        }
        if self.fuel > 0 {
            // It is there already, but was not paid for.
            self.emit(Op::Move, to, to as u8, 0, 0, Value::NIL)?;
        }
        Ok(())
    }

    fn if_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let condition = self.argument(message, 0);
        let condition = if self.is_pure(condition, 0) {
            self.top = base;
            self.pure(condition)?
        } else {
            let asking = self.native(Native::If, message, 0, vec![], waiting);
            self.within(asking, condition, base, true)?
        };
        if condition == Operand::Dead {
            return Ok(condition);
        }
        let otherwise = self.jump_unless(condition, base)?;
        let before = self.assigned.clone();
        let first = self.branch(waiting, message, true, base, wanted)?;
        let end = if first == Operand::Dead { None } else { Some(self.emit(Op::Jump, 0, 0, 0, 0, Value::NIL)?) };
        let after_first = std::mem::replace(&mut self.assigned, before);
        self.land(&[otherwise]);
        let second = self.branch(waiting, message, false, base, wanted)?;
        if let Some(end) = end {
            self.land(&[end]);
        }
        match (first, second) {
            (Operand::Dead, Operand::Dead) => return Ok(Operand::Dead),
            (Operand::Dead, _) => {}
            (_, Operand::Dead) => self.assigned = after_first,
            _ => self.assigned.iter_mut().zip(after_first).for_each(|(both, first)| *both &= first),
        }
        self.arrive(waiting, base);
        Ok(Operand::Value(base as u8))
    }

    /// One branch of an if; the condition's truth where the branch is missing.
    fn branch(
        &mut self,
        waiting: StateId,
        message: Handle,
        truth: bool,
        base: usize,
        wanted: bool,
    ) -> Compiled<Operand> {
        let index = if truth { 1 } else { 2 };
        if index >= message::argument_count(self.heap(), message) {
            let truth = Value::boolean(truth);
            self.arrive_with(waiting, Source::Constant(truth));
            self.emit(Op::Constant, base, 0, 0, 0, truth)?;
            return Ok(Operand::Value(base as u8));
        }
        let value = self.within(waiting, self.argument(message, index), base, wanted)?;
        if value != Operand::Dead {
            self.settle(value, base, wanted)?;
        }
        Ok(value)
    }

    pub(super) fn native(
        &mut self,
        native: Native,
        message: Handle,
        step: u32,
        values: Vec<Source>,
        parent: StateId,
    ) -> StateId {
        let context = Context::Native { native, message, step, target: Source::Locals, values };
        self.push_state(context, Some(parent))
    }

    /// The tree would now have the value in `register` on its way to `context`.
    pub(super) fn arrive(&mut self, context: StateId, register: usize) {
        self.arrive_with(context, Source::Register(register as u8));
    }

    pub(super) fn arrive_with(&mut self, context: StateId, value: Source) {
        self.state = self.push_state(Context::Deliver { value }, Some(context));
    }

    pub(super) fn begin_loop(&mut self, result: Option<u8>) {
        let assignments = self.assignments;
        self.loops.push(Loop { breaks: Vec::new(), continues: Vec::new(), result, assignments });
    }

    // ---- stops

    pub fn stop(&mut self, name: &str, message: Handle, base: usize) -> Compiled<Operand> {
        // Only a body can be returned from; the rest is the tree's business.
        let outer = match name {
            "return" => (self.scope == Scope::Body).then_some(0),
            _ => self.loops.last().map(|each| each.assignments),
        };
        if outer != Some(self.assignments) {
            return self.leave();
        }
        let value = match message::argument(self.heap(), message, 0) {
            None => Operand::Constant(Value::NIL),
            Some(argument) => {
                let target = Source::Locals;
                self.nested(argument, Context::Argument { message, callee: None, target, done: vec![] }, base + 1)?
            }
        };
        if value == Operand::Dead {
            return Ok(value);
        }
        if name == "return" {
            self.top = base;
            let register = self.register(value)?;
            self.emit(Op::Return, 0, register, 0, 0, Value::NIL)?;
            return Ok(Operand::Dead);
        }
        let result = self.loops.last().and_then(|each| each.result);
        match result {
            Some(result) => self.place(value, result as usize)?,
            None => self.settle(value, base, false)?,
        }
        let jump = self.emit(Op::Jump, 0, 0, 0, 0, Value::NIL)?;
        if let Some(innermost) = self.loops.last_mut() {
            if name == "break" { innermost.breaks.push(jump) } else { innermost.continues.push(jump) }
        }
        Ok(Operand::Dead)
    }
}
