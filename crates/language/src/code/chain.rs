//! Chains of messages, statement by statement, and who each message is sent to.

use super::Scope;
use super::arithmetic::arithmetic;
use super::compile::{Compiled, Compiler, NESTING_MAX, Operand, TooBig};
use super::instruction::Op;
use super::state::{Context, Source};
use crate::message;
use object::{Handle, Value};

impl Compiler<'_> {
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
            // So does one that ends here; semicolons in a row are the tree's business, too.
            if next.is_some() && next_sends.is_none() {
                let after = next.and_then(|next| message::next(self.heap(), next));
                if after.is_none_or(|after| message::name(self.heap(), after) == self.vm.names.semicolon) {
                    return self.leave();
                }
            }
            self.note(message);
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
            None => self.sent_to_locals(message, base, wanted),
            Some(target) => self.sent_to_value(message, target, base, wanted),
        }
    }

    /// A message at the start of a statement.
    pub(super) fn sent_to_locals(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
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
        if self.scope != Scope::Body {
            return self.sent_to_context(message, base, wanted);
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

    /// A message at the start of a statement that is evaluated in an object: the object has to be asked each time what
    /// it means by the name.
    fn sent_to_context(&mut self, message: Handle, base: usize, wanted: bool) -> Compiled<Operand> {
        let name = message::name(self.heap(), message);
        let count = message::argument_count(self.heap(), message);
        let text = self.heap().symbol_text(name).into_owned();
        let context = Operand::Value(0);
        match (&*text, count) {
            ("setSlot" | "updateSlot", 2) if self.assigned_name(message).is_some() => {
                self.write_slot(message, context, base, &text)
            }
            ("", 1) | ("if", 1..=3) | ("while", 2) | ("loop", 1) | ("for", 4 | 5) => {
                self.guard_context(message)?;
                match self.control(&text, message, count, base, wanted)? {
                    Some(value) => Ok(value),
                    None => self.send(message, Some(context), base),
                }
            }
            ("break" | "continue", 0 | 1) if !self.loops.is_empty() => {
                self.guard_context(message)?;
                self.stop(&text, message, base)
            }
            _ => self.send(message, Some(context), base),
        }
    }

    /// Goes on only if the context answers the message as it was built in.
    fn guard_context(&mut self, message: Handle) -> Compiled<()> {
        let site = self.new_site(message::name(self.heap(), message), message);
        self.quietly(|compiler| compiler.emit(Op::Guard, 0, 0, 0, site, Value::NIL))?;
        Ok(())
    }

    pub(super) fn sent_to_value(
        &mut self,
        message: Handle,
        target: Operand,
        base: usize,
        wanted: bool,
    ) -> Compiled<Operand> {
        let name = message::name(self.heap(), message);
        let count = message::argument_count(self.heap(), message);
        let expected = self.is_built_in(name) && !self.vm.units.surprises.contains(&message);
        let text = self.heap().symbol_text(name).into_owned();
        let number_like = message::argument(self.heap(), message, 0).is_some_and(|argument| !self.is_text(argument));
        if count == 1 && expected && number_like && arithmetic(&text).is_some() {
            return self.arithmetic(message, target, base);
        }
        match (&*text, count) {
            ("setSlot" | "updateSlot", 2) if self.assigned_name(message).is_some() => {
                self.write_slot(message, target, base, &text)
            }
            ("foreach", 2 | 3) if expected => self.foreach(message, target, base, wanted),
            ("repeat", 1 | 2) if expected => self.repeat(message, target, base, wanted),
            _ => self.send(message, Some(target), base),
        }
    }
}
