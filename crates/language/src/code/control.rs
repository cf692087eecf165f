//! Control flow compiled in place: groups, assignment, if, while, loop, for, repeat, foreach and the stops.

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

    fn argument(&self, message: Handle, index: usize) -> Handle {
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
    fn jump_unless(&mut self, operand: Operand, base: usize) -> Compiled<usize> {
        let end = self.code.len();
        let fuel = self.fuel;
        if let (Operand::Value(register), Some(last)) = (operand, self.code.last_mut())
            && last.a == register
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
    fn settle(&mut self, value: Operand, to: usize, wanted: bool) -> Compiled<()> {
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
        let count = message::argument_count(self.heap(), message);
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
        let first = self.branch(waiting, message, 1, count, Value::TRUE, base, wanted)?;
        let end = if first == Operand::Dead { None } else { Some(self.emit(Op::Jump, 0, 0, 0, 0, Value::NIL)?) };
        let after_first = std::mem::replace(&mut self.assigned, before);
        self.land(&[otherwise]);
        let second = self.branch(waiting, message, 2, count, Value::FALSE, base, wanted)?;
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
    #[allow(clippy::too_many_arguments)]
    fn branch(
        &mut self,
        waiting: StateId,
        message: Handle,
        index: usize,
        count: usize,
        truth: Value,
        base: usize,
        wanted: bool,
    ) -> Compiled<Operand> {
        if index >= count {
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

    fn native(&mut self, native: Native, message: Handle, step: u32, values: Vec<Source>, parent: StateId) -> StateId {
        let context = Context::Native { native, message, step, target: Source::Locals, values };
        self.push_state(context, Some(parent))
    }

    /// The tree would now have the value in `register` on its way to `context`.
    fn arrive(&mut self, context: StateId, register: usize) {
        self.arrive_with(context, Source::Register(register as u8));
    }

    fn arrive_with(&mut self, context: StateId, value: Source) {
        self.state = self.push_state(Context::Deliver { value }, Some(context));
    }

    fn begin_loop(&mut self, result: Option<u8>) {
        let assignments = self.assignments;
        self.loops.push(Loop { breaks: Vec::new(), continues: Vec::new(), result, assignments });
    }

    // ---- loops

    fn while_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let result = base;
        self.claim(base + 2)?;
        self.emit(Op::Constant, result, 0, 0, 0, Value::NIL)?;
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let values = vec![Source::Register(result as u8)];
        let asking = self.native(Native::While, message, 0, values.clone(), waiting);
        let doing = self.native(Native::While, message, 1, values, waiting);
        let before = self.assigned.clone();
        self.begin_loop(Some(result as u8));
        let top = self.code.len();
        self.land(&[]);
        let condition = self.within(asking, self.argument(message, 0), base + 1, true)?;
        if condition != Operand::Dead {
            let exit = self.jump_unless(condition, base + 1)?;
            // The round's own fuel.
            self.arrive_with(asking, Source::Constant(Value::TRUE));
            self.owe(1);
            let body = self.code.len() + 1;
            self.emit(Op::Jump, 0, 0, 0, body, Value::NIL)?;
            self.land(&[]);
            let value = self.within(doing, self.argument(message, 1), base + 1, wanted)?;
            if value != Operand::Dead {
                self.settle(value, result, wanted)?;
                self.arrive(doing, result);
            }
            self.end_rounds(doing, result, top)?;
            self.land(&[exit]);
        }
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    /// Where `continue` comes to: the next round.
    fn end_rounds(&mut self, doing: StateId, result: usize, top: usize) -> Compiled<()> {
        let continues = self.loops.last_mut().map(|each| std::mem::take(&mut each.continues)).unwrap_or_default();
        self.land(&continues);
        self.arrive(doing, result);
        self.emit(Op::Jump, 0, 0, 0, top, Value::NIL)?;
        Ok(())
    }

    fn end_loop(&mut self, waiting: StateId, result: usize, before: Vec<bool>) {
        let breaks = self.loops.pop().map(|each| each.breaks).unwrap_or_default();
        self.land(&breaks);
        self.assigned = before;
        self.arrive(waiting, result);
    }

    fn loop_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let result = base;
        self.claim(base + 2)?;
        self.emit(Op::Constant, result, 0, 0, 0, Value::NIL)?;
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let doing = self.native(Native::Loop, message, 0, vec![], waiting);
        let before = self.assigned.clone();
        self.begin_loop(Some(result as u8));
        let top = self.code.len();
        self.land(&[]);
        let value = self.within(doing, self.argument(message, 0), base + 1, wanted)?;
        if value != Operand::Dead {
            self.settle(value, result, false)?;
        }
        let continues = self.loops.last_mut().map(|each| std::mem::take(&mut each.continues)).unwrap_or_default();
        self.land(&continues);
        self.arrive_with(doing, Source::Constant(Value::NIL));
        self.owe(1);
        self.emit(Op::Jump, 0, 0, 0, top, Value::NIL)?;
        if self.loops.last().is_none_or(|each| each.breaks.is_empty()) {
            self.loops.pop();
            return Ok(Operand::Dead);
        }
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    fn for_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let count = message::argument_count(self.heap(), message);
        let name = self.argument(message, 0);
        self.note(name);
        let Some(counter) = self.local(message::name(self.heap(), name)) else { return self.leave() };
        let [from, to, by, result] = [base, base + 1, base + 2, base + 3];
        self.claim(base + 5)?;
        self.emit(Op::Constant, by, 0, 0, 0, Value::number(1.0))?;
        self.emit(Op::Constant, result, 0, 0, 0, Value::NIL)?;
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let values: Vec<Source> = [from, to, by, result].map(|each| Source::Register(each as u8)).to_vec();
        for (step, register) in [from, to, by].into_iter().enumerate().take(count - 2) {
            let asking = self.native(Native::For, message, step as u32, values.clone(), waiting);
            // Registers that the tree would find in the frame must hold something.
            let value = self.within(asking, self.argument(message, step + 1), base + 4, true)?;
            if value == Operand::Dead {
                return Ok(value);
            }
            self.place_number(value, register, base + 4)?;
            self.arrive(asking, register);
        }
        let before = self.assigned.clone();
        let begin = self.emit(Op::ForBegin, base, counter, 0, 0, Value::NIL)?;
        self.assign(counter);
        let doing = self.native(Native::For, message, 3, values, waiting);
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, (result, base + 4), begin, Op::ForNext, wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    fn place_number(&mut self, value: Operand, register: usize, spare: usize) -> Compiled<()> {
        match value {
            Operand::Constant(constant) if constant.is_number() => self.place(value, register),
            other => {
                self.top = spare;
                let from = match other {
                    Operand::Local(from) | Operand::Value(from) => from,
                    constant => self.quietly(|compiler| compiler.register(constant))?,
                };
                self.emit(Op::Number, register, from, 0, 0, Value::NIL)?;
                Ok(())
            }
        }
    }

    /// The body of a counted loop, and the instruction that begins the next round.
    #[allow(clippy::too_many_arguments)]
    fn rounds(
        &mut self,
        body: Handle,
        doing: StateId,
        (result, spare): (usize, usize),
        begin: usize,
        next: Op,
        wanted: bool,
    ) -> Compiled<()> {
        self.begin_loop(Some(result as u8));
        let top = self.code.len();
        self.land(&[]);
        let value = self.within(doing, body, spare, wanted)?;
        if value != Operand::Dead {
            self.settle(value, result, wanted)?;
        }
        let continues = self.loops.last_mut().map(|each| std::mem::take(&mut each.continues)).unwrap_or_default();
        self.land(&continues);
        self.arrive(doing, result);
        let first = self.code[begin];
        self.emit(next, first.a as usize, first.b, first.c, top, Value::NIL)?;
        self.land(&[begin]);
        Ok(())
    }

    /// number repeat(i, body)
    pub fn repeat(&mut self, message: Handle, target: Operand, base: usize, wanted: bool) -> Compiled<Operand> {
        let count = message::argument_count(self.heap(), message);
        let [done, times, result] = [base, base + 1, base + 2];
        self.claim(base + 4)?;
        let counter = match count {
            1 => Some(done as u8),
            _ => {
                let name = self.argument(message, 0);
                self.note(name);
                self.local(message::name(self.heap(), name))
            }
        };
        let Some(counter) = counter else { return self.leave() };
        self.about = message;
        self.place_number(target, times, base + 3)?;
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let target = Source::Register(times as u8);
        let values = |first: Source| vec![first, target];
        let beginning = Context::Native {
            native: Native::Repeat,
            message,
            step: 0,
            target,
            values: values(Source::Constant(Value::number(0.0))),
        };
        self.state = self.push_state(beginning, Some(waiting));
        self.emit(Op::Constant, done, 0, 0, 0, Value::number(0.0))?;
        self.emit(Op::Constant, result, 0, 0, 0, Value::NIL)?;
        let before = self.assigned.clone();
        let begin = self.emit(Op::RepeatBegin, base, counter, (count > 1) as u8, 0, Value::NIL)?;
        if count > 1 {
            self.assign(counter);
        }
        let doing = Context::Native {
            native: Native::Repeat,
            message,
            step: 0,
            target,
            values: values(Source::Register(done as u8)),
        };
        let doing = self.push_state(doing, Some(waiting));
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, (result, base + 3), begin, Op::RepeatNext, wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    /// list foreach(index, value, body)
    pub fn foreach(&mut self, message: Handle, target: Operand, base: usize, wanted: bool) -> Compiled<Operand> {
        let count = message::argument_count(self.heap(), message);
        let [index, backwards, keys, list, result] = [base, base + 1, base + 2, base + 3, base + 4];
        self.claim(base + 6)?;
        let mut registers = Vec::new();
        for argument in 0..count - 1 {
            let name = self.argument(message, argument);
            self.note(name);
            registers.extend(self.local(message::name(self.heap(), name)));
        }
        let (Some(&item), true) = (registers.last(), registers.len() == count - 1) else { return self.leave() };
        let counter = if count == 3 { registers[0] } else { index as u8 };
        // All of this can be done twice, so the tree would still stand before the message.
        self.quietly(|compiler| {
            compiler.place(target, list)?;
            for (register, value) in [(backwards, Value::FALSE), (keys, Value::NIL), (result, Value::NIL)] {
                compiler.emit(Op::Constant, register, 0, 0, 0, value)?;
            }
            Ok(())
        })?;
        let site = self.new_site(message::name(self.heap(), message), message);
        let before = self.assigned.clone();
        self.about = message;
        let begin = self.emit(Op::ForeachBegin, base, counter, item, 0, Value::number(site as f64))?;
        registers.iter().for_each(|&register| self.assign(register));
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let values = [index, backwards, keys].map(|each| Source::Register(each as u8)).to_vec();
        let target = Source::Register(list as u8);
        let doing = Context::Native { native: Native::Foreach, message, step: 0, target, values };
        let doing = self.push_state(doing, Some(waiting));
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, (result, base + 5), begin, Op::ForeachNext, wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    // ---- stops

    fn stop(&mut self, name: &str, message: Handle, base: usize) -> Compiled<Operand> {
        let outer = if name == "return" { Some(0) } else { self.loops.last().map(|each| each.assignments) };
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
