//! Messages to whatever answers them: arguments, contexts within contexts, and slots written.

use super::compile::{Compiled, Compiler, Operand, TooBig};
use super::instruction::Op;
use super::state::{Context, Source, StateId};
use crate::message;
use object::{Handle, Value};

impl Compiler<'_> {
    /// A message to whatever answers it: `[callee, target, arguments…]` from `base`, the answer to `base`.
    pub fn send(&mut self, message: Handle, target: Option<Operand>, base: usize) -> Compiled<Operand> {
        let arguments = message::arguments(self.heap(), message);
        let count = arguments.len();
        self.claim(base + count + 2)?;
        let site = self.new_site(message::name(self.heap(), message), message);
        if site > u16::MAX as usize || count > 100 {
            return Err(TooBig);
        }
        self.claim(base + 2)?;
        let register = match target {
            None => 0,
            Some(Operand::Local(local)) if count == 0 => {
                self.emit(Op::GetOfLocal, base, local, 0, site, Value::NIL)?;
                return Ok(Operand::Value(base as u8));
            }
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
            let op = match target {
                None => Op::SendSelf,
                Some(_) if count == 0 => Op::Get,
                Some(_) => Op::Send,
            };
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
    pub(super) fn write_slot(
        &mut self,
        message: Handle,
        target: Operand,
        base: usize,
        text: &str,
    ) -> Compiled<Operand> {
        let (Some(name), Some(value), Some(name_message)) = (
            self.assigned_name(message),
            message::argument(self.heap(), message, 1),
            message::argument(self.heap(), message, 0),
        ) else {
            return self.send(message, Some(target), base);
        };
        self.claim(base + 3)?;
        self.note(name_message);
        let site = self.new_site(name, message);
        let op = if text == "setSlot" { Op::SetSlot } else { Op::UpdateSlot };
        self.owe(1);
        if self.is_pure(value, 0) {
            let receiver = match target {
                Operand::Value(register) => register,
                other => {
                    self.place_quietly(other, base + 1)?;
                    base as u8 + 1
                }
            };
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
        // The receiver must stay what it was, and decides before the value is evaluated what the message means.
        let guard = self.new_site(message::name(self.heap(), message), message);
        let (receiver, is_unread) = match target {
            Operand::Value(register) => (register, false),
            Operand::Local(register) => (register, true),
            constant => {
                self.place_quietly(constant, base + 1)?;
                (base as u8 + 1, false)
            }
        };
        self.emit(Op::Guard, base + 1, receiver, is_unread as u8, guard, Value::NIL)?;
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
}
