//! Loops compiled in place: while, loop, for, repeat and foreach.

use super::Scope;
use super::compile::{Compiled, Compiler, Operand};
use super::instruction::Op;
use super::state::{Context, Source, StateId};
use crate::machine::frame::Native;
use crate::message;
use object::{Handle, Value};

/// What a loop's variable is.
#[derive(Clone, Copy)]
enum Bound {
    Nothing,
    Local(u8),
    /// A slot of the context, named by this message, whose value is in the register.
    Slot(Handle, u8),
}

impl Compiler<'_> {
    pub(super) fn while_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
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

    pub(super) fn loop_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
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

    pub(super) fn for_(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let count = message::argument_count(self.heap(), message);
        let name = self.argument(message, 0);
        self.note(name);
        let [from, to, by, result, spare] = [base, base + 1, base + 2, base + 3, base + 5];
        self.claim(base + 6)?;
        let Some((counter, bound)) = self.variable(name, base + 4) else { return self.leave() };
        self.emit(Op::Constant, by, 0, 0, 0, Value::number(1.0))?;
        self.emit(Op::Constant, result, 0, 0, 0, Value::NIL)?;
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let values: Vec<Source> = [from, to, by, result].map(|each| Source::Register(each as u8)).to_vec();
        for (step, register) in [from, to, by].into_iter().enumerate().take(count - 2) {
            let asking = self.native(Native::For, message, step as u32, values.clone(), waiting);
            // Registers that the tree would find in the frame must hold something.
            let value = self.within(asking, self.argument(message, step + 1), spare, true)?;
            if value == Operand::Dead {
                return Ok(value);
            }
            self.place_number(value, register, spare)?;
            self.arrive(asking, register);
        }
        let before = self.assigned.clone();
        let begin = self.emit(Op::ForBegin, base, counter, 0, 0, Value::NIL)?;
        let doing = self.native(Native::For, message, 3, values, waiting);
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, &[bound], (result, spare), (begin, Op::ForNext), wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    /// The register of a loop's variable: its own if it is a local, else a spare one that each round binds to its name.
    fn variable(&mut self, name: Handle, spare: usize) -> Option<(u8, Bound)> {
        let symbol = message::name(self.heap(), name);
        match (self.local(symbol), self.scope) {
            (Some(register), _) => Some((register, Bound::Local(register))),
            (None, Scope::Body) => None,
            // A variable of that name changes what assignments mean.
            (None, _) if [self.vm.names.set_slot, self.vm.names.update_slot].contains(&symbol) => None,
            (None, _) => Some((spare as u8, Bound::Slot(name, spare as u8))),
        }
    }

    fn bind(&mut self, bound: &[Bound]) -> Compiled<()> {
        for each in bound {
            match *each {
                Bound::Nothing => {}
                Bound::Local(register) => self.assign(register),
                Bound::Slot(name, register) => {
                    let site = self.new_site(message::name(self.heap(), name), name);
                    self.emit(Op::Bind, 0, 0, register, site, Value::NIL)?;
                }
            }
        }
        Ok(())
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
    fn rounds(
        &mut self,
        body: Handle,
        doing: StateId,
        bound: &[Bound],
        (result, spare): (usize, usize),
        (begin, next): (usize, Op),
        wanted: bool,
    ) -> Compiled<()> {
        self.begin_loop(Some(result as u8));
        let top = self.code.len();
        self.land(&[]);
        self.bind(bound)?;
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
        let [done, times, result, spare] = [base, base + 1, base + 2, base + 4];
        self.claim(base + 5)?;
        let variable = match count {
            1 => Some((done as u8, Bound::Nothing)),
            _ => {
                let name = self.argument(message, 0);
                self.note(name);
                self.variable(name, base + 3)
            }
        };
        let Some((counter, bound)) = variable else { return self.leave() };
        self.about = message;
        self.place_number(target, times, spare)?;
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
        let doing = Context::Native {
            native: Native::Repeat,
            message,
            step: 0,
            target,
            values: values(Source::Register(done as u8)),
        };
        let doing = self.push_state(doing, Some(waiting));
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, &[bound], (result, spare), (begin, Op::RepeatNext), wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }

    /// list foreach(index, value, body)
    pub fn foreach(&mut self, message: Handle, target: Operand, base: usize, wanted: bool) -> Compiled<Operand> {
        let count = message::argument_count(self.heap(), message);
        let [index, backwards, keys, list, result] = [base, base + 1, base + 2, base + 3, base + 4];
        let spare = base + 7;
        self.claim(spare + 1)?;
        let mut variables = Vec::new();
        for argument in 0..count - 1 {
            let name = self.argument(message, argument);
            self.note(name);
            variables.extend(self.variable(name, base + 5 + argument));
        }
        let (Some(&(item, _)), true) = (variables.last(), variables.len() == count - 1) else { return self.leave() };
        let counter = if count == 3 { variables[0].0 } else { index as u8 };
        let bound: Vec<Bound> = variables.iter().map(|&(_, bound)| bound).collect();
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
        let waiting = self.push_state(Context::Result { message }, self.parent);
        let values = [index, backwards, keys].map(|each| Source::Register(each as u8)).to_vec();
        let target = Source::Register(list as u8);
        let doing = Context::Native { native: Native::Foreach, message, step: 0, target, values };
        let doing = self.push_state(doing, Some(waiting));
        let body = self.argument(message, count - 1);
        self.rounds(body, doing, &bound, (result, spare), (begin, Op::ForeachNext), wanted)?;
        self.end_loop(waiting, result, before);
        Ok(Operand::Value(result as u8))
    }
}
