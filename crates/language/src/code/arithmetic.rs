//! Arithmetic on numbers, and chains of it that have no effect.

use super::Scope;
use super::compile::{Compiled, Compiler, Operand, TooBig};
use super::instruction::Op;
use super::state::{Context, Source};
use crate::message;
use object::{Handle, Value};

impl Compiler<'_> {
    pub(super) fn arithmetic(&mut self, message: Handle, target: Operand, base: usize) -> Compiled<Operand> {
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
                    (None, 0) => name == self.vm.names.self_ && self.scope == Scope::Body,
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

    pub(super) fn is_text(&self, argument: Handle) -> bool {
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
            self.note(message);
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
