//! How a primitive reads its arguments, with errors that say which argument of what was wrong.

use super::sequence::pay;
use crate::block::Activation;
use crate::message;
use crate::problem;
use crate::signal::Signal;
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Handle, Kind, Symbol, Value};

/// One call of a primitive. Small and copied; the values stay on the stack.
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The receiver.
    pub target: Value,
    /// Where the evaluated arguments begin on the value stack.
    pub(crate) at: usize,
    /// How many were evaluated.
    pub count: usize,
    /// The message that was sent.
    pub message: Handle,
    /// What the message was sent from; absent if that is compiled code.
    pub(crate) locals: Value,
    /// The object whose slot the primitive came from.
    pub(crate) holder: Handle,
}

impl Args {
    /// The value of an argument; nil if it is missing.
    #[inline(always)]
    pub fn value(&self, vm: &Vm, index: usize) -> Value {
        if index < self.count { vm.stack.values[self.at + index] } else { Value::NIL }
    }

    /// What the message was sent from. Ask before doing anything: compiled code has to be left first.
    #[inline]
    pub fn sender(&self) -> Result<Value, Signal> {
        if self.locals.is_absent() { Err(Signal::Reify) } else { Ok(self.locals) }
    }

    /// This call, with its sender known.
    pub fn reified(self) -> Result<Args, Signal> {
        self.sender().map(|_| self)
    }

    pub fn values<'v>(&self, vm: &'v Vm) -> &'v [Value] {
        &vm.stack.values[self.at..self.at + self.count]
    }

    /// The argument, or an exception if it is missing.
    pub fn required(&self, vm: &mut Vm, index: usize) -> Result<Value, Signal> {
        if index < self.count {
            return Ok(self.value(vm, index));
        }
        Err(self.missing(vm, index, self.count))
    }

    #[inline]
    pub fn number(&self, vm: &mut Vm, index: usize) -> Result<f64, Signal> {
        match vm.number_of(self.value(vm, index)) {
            Some(number) => Ok(number),
            None => Err(self.wrong(vm, index, "Number")),
        }
    }

    /// A number argument, if there is one.
    pub fn optional_number(&self, vm: &mut Vm, index: usize) -> Result<Option<f64>, Signal> {
        if index < self.count && !self.value(vm, index).is_nil() { self.number(vm, index).map(Some) } else { Ok(None) }
    }

    /// A number as a whole one, rounded towards zero.
    pub fn integer(&self, vm: &mut Vm, index: usize) -> Result<i64, Signal> {
        self.number(vm, index).map(|number| number as i64)
    }

    /// The bytes of a sequence argument.
    pub fn bytes(&self, vm: &mut Vm, index: usize) -> Result<Vec<u8>, Signal> {
        match vm.sequence_of(self.value(vm, index)) {
            Some(sequence) => Ok(sequence.as_bytes().to_vec()),
            None => Err(self.wrong(vm, index, "Sequence")),
        }
    }

    /// The text of a sequence argument.
    pub fn text(&self, vm: &mut Vm, index: usize) -> Result<String, Signal> {
        match vm.text_of(self.value(vm, index)) {
            Some(text) => Ok(text),
            None => Err(self.wrong(vm, index, "Sequence")),
        }
    }

    /// A sequence argument as a symbol.
    #[inline]
    pub fn symbol(&self, vm: &mut Vm, index: usize) -> Result<Symbol, Signal> {
        let value = self.value(vm, index);
        match vm.symbol_of(value)? {
            Some(symbol) => Ok(symbol),
            None => Err(self.wrong(vm, index, "Sequence")),
        }
    }

    /// An argument that must be of a kind.
    pub fn of_kind(&self, vm: &mut Vm, index: usize, kind: Kind) -> Result<Handle, Signal> {
        match self.value(vm, index).as_handle() {
            Some(handle) if vm.heap.kind(handle) == kind && index < self.count => Ok(handle),
            _ => Err(self.wrong(vm, index, vm.protos.kind_name(kind))),
        }
    }

    /// The receiver's object, which must be of a kind.
    #[inline(always)]
    pub fn receiver(&self, vm: &mut Vm, kind: Kind) -> Result<Handle, Signal> {
        match self.target.as_handle() {
            Some(handle) if vm.heap.kind(handle) == kind => Ok(handle),
            _ => Err(self.wrong_receiver(vm, kind)),
        }
    }

    #[cold]
    pub fn wrong_receiver(&self, vm: &mut Vm, kind: Kind) -> Signal {
        let (name, type_name) = (self.name(vm), vm.type_name(self.target));
        vm.raise(format!("'{name}' was sent to a '{type_name}', but works on a {} only", vm.protos.kind_name(kind)))
    }

    /// The exception for an argument that is not what it must be. People count from one.
    #[cold]
    pub fn wrong(&self, vm: &mut Vm, index: usize, wanted: &str) -> Signal {
        if index >= self.count {
            return self.missing(vm, index, self.count);
        }
        let (name, given) = (self.full_name(vm), vm.described(self.value(vm, index)));
        let text = format!("argument {} of '{name}' must be a {wanted}, not {given}", index + 1);
        vm.raise_problem_of(text, problem::ARGUMENT, &name, self.value(vm, index))
    }

    /// The exception for an argument that is not there.
    #[cold]
    fn missing(&self, vm: &mut Vm, index: usize, given: usize) -> Signal {
        let (name, count) = (self.full_name(vm), index + 1);
        let plural = if count == 1 { "" } else { "s" };
        let text = format!("'{name}' needs at least {count} argument{plural}, got {given}");
        vm.raise_problem(text, problem::ARGUMENT, &name)
    }

    /// `List append`; what every object can do has no prototype in front.
    pub fn full_name(&self, vm: &mut Vm) -> String {
        let name = self.name(vm);
        if self.holder == vm.protos.object || self.holder == vm.protos.locals {
            return name;
        }
        // A primitive that has waited for something does not know any more where it was found.
        let holder = Value::object(self.holder);
        format!("{} {name}", vm.type_name(if holder.is_nil() { self.target } else { holder }))
    }

    /// The name under which the primitive was called.
    pub fn name(&self, vm: &Vm) -> String {
        vm.heap.symbol_text(message::name(&vm.heap, self.message)).into_owned()
    }

    /// What this call is for a block.
    pub(crate) fn activation(&self, block: Handle) -> Activation {
        Activation { block, target: self.target, message: self.message, holder: self.holder }
    }

    /// How many arguments the message has, evaluated or not.
    pub fn message_count(&self, vm: &Vm) -> usize {
        message::argument_count(&vm.heap, self.message)
    }

    /// An argument as the message it is, or an exception if it is missing.
    pub fn argument(&self, vm: &mut Vm, index: usize) -> Result<Handle, Signal> {
        match message::argument(&vm.heap, self.message, index) {
            Some(argument) => Ok(argument),
            None => {
                let given = self.message_count(vm);
                Err(self.missing(vm, index, given))
            }
        }
    }

    /// The name of an argument that is a bare name, as in `for(i, …)`; a quoted one is taken as what it spells.
    pub fn argument_name(&self, vm: &mut Vm, index: usize) -> Result<Symbol, Signal> {
        let argument = self.argument(vm, index)?;
        let spelled = message::literal(&vm.heap, argument).map_or(Ok(None), |literal| vm.symbol_of(literal))?;
        Ok(spelled.unwrap_or_else(|| message::name(&vm.heap, argument)))
    }
}

impl Vm {
    /// The symbol with a sequence's text. What is no symbol yet is copied and hashed, and pays for that.
    #[inline]
    pub(crate) fn symbol_of(&mut self, value: Value) -> Result<Option<Symbol>, Signal> {
        let Some(handle) = value.as_handle() else { return Ok(None) };
        if self.heap.object(handle).has(object::flag::SYMBOL) {
            return Ok(Some(handle));
        }
        let Some(bytes) = self.heap.sequence(handle).map(Sequence::size_in_bytes) else { return Ok(None) };
        pay(self, bytes)?;
        self.reserve(bytes)?;
        let sequence = self.heap.sequence(handle).cloned();
        Ok(sequence.map(|sequence| self.heap.intern_sequence(sequence)))
    }
}
