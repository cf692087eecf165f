//! Sequence: text, bytes and vectors. Binds the data type `object::sequence` to Io; owns which results are symbols,
//! what a symbol refuses, and what the work costs.
//!
//! - `text`, `encoding`, `path`: reading it as text
//! - `search`: finding and cutting
//! - `edit`: changing it in place; `join`: putting things together, `interpolate`: with code in between
//! - `bits`, `vector`: bytes and numbers
//!
//! Fuel is charged by the bytes that are read or written, before the work.

mod bits;
mod edit;
mod encoding;
mod interpolate;
mod join;
mod path;
mod search;
mod text;
mod vector;

pub(super) use interpolate::step_interpolate;
pub(super) use join::step_ask_texts;

use super::Args;
use crate::problem;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::{SIZE_LIMIT_BYTES, Sequence, SequenceError};
use object::{Handle, Kind, Value, flag};

pub const TABLES: &[&[super::Row]] = &[
    text::TABLE,
    encoding::TABLE,
    path::TABLE,
    search::TABLE,
    edit::TABLE,
    join::TABLE,
    interpolate::TABLE,
    bits::TABLE,
    vector::TABLE,
    super::json::TABLE,
];

/// How many bytes a primitive may touch for the price of one message.
const BYTES_PER_FUEL: usize = 16;

pub(super) fn pay(vm: &mut Vm, bytes: usize) -> Result<(), Signal> {
    vm.charge(bytes / BYTES_PER_FUEL)
}

/// Asks for room for what is added to a sequence, which must not grow beyond the limit by it.
fn room(vm: &mut Vm, held_bytes: usize, more_bytes: usize) -> Result<(), Signal> {
    let bytes = held_bytes.saturating_add(more_bytes);
    if bytes > SIZE_LIMIT_BYTES {
        return Err(raise(vm, SequenceError::TooLarge { bytes, limit: SIZE_LIMIT_BYTES }));
    }
    vm.reserve(more_bytes)
}

fn size_of(vm: &Vm, handle: Handle) -> usize {
    vm.heap.sequence(handle).map_or(0, Sequence::size_in_bytes)
}

#[inline]
fn receiver(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    args.receiver(vm, Kind::Sequence)
}

#[inline]
fn own<'v>(vm: &'v mut Vm, args: &Args) -> Result<&'v Sequence, Signal> {
    let handle = receiver(vm, args)?;
    Ok(data(vm, handle))
}

/// What a sequence object holds. Objects of that kind always hold one.
#[inline]
fn data(vm: &Vm, handle: Handle) -> &Sequence {
    vm.heap.sequence(handle).expect("an object of kind Sequence holds a sequence")
}

/// The receiver, which must be mutable.
#[inline]
fn mutable(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    let handle = receiver(vm, args)?;
    if vm.heap.object(handle).has(flag::SYMBOL) {
        let name = args.name(vm);
        let text = format!("'{name}' cannot be called on an immutable Sequence");
        return Err(vm.raise_problem(text, problem::IMMUTABLE, &name));
    }
    Ok(handle)
}

/// An argument that must be a sequence.
#[inline]
fn other(vm: &mut Vm, args: &Args, index: usize) -> Result<Handle, Signal> {
    args.of_kind(vm, index, Kind::Sequence)
}

/// A number argument that counts something: a negative one is refused.
#[inline]
fn count(vm: &mut Vm, args: &Args, index: usize) -> Result<usize, Signal> {
    let number = args.integer(vm, index)?;
    match usize::try_from(number) {
        Ok(count) => Ok(count),
        Err(_) => {
            let name = args.full_name(vm);
            let text = format!("argument {} of '{name}' must not be negative, but is {number}", index + 1);
            Err(vm.raise_problem_of(text, problem::ARGUMENT, &name, args.value(vm, index)))
        }
    }
}

/// A whole number argument, if the message has it.
fn optional_integer(vm: &mut Vm, args: &Args, index: usize) -> Result<Option<i64>, Signal> {
    if index < args.count { args.integer(vm, index).map(Some) } else { Ok(None) }
}

/// The exception for what the data type refused to do.
fn unwrap<T>(vm: &mut Vm, result: Result<T, SequenceError>) -> Result<T, Signal> {
    result.map_err(|error| raise(vm, error))
}

#[cold]
fn raise(vm: &mut Vm, error: SequenceError) -> Signal {
    match error {
        SequenceError::NotNumberEncoding => vm.raise_problem(error.to_string(), problem::NOT_NUMBERS, "Sequence"),
        _ => vm.raise(error.to_string()),
    }
}

/// A new sequence that is a symbol if the receiver is one.
fn alike(vm: &mut Vm, args: &Args, sequence: Sequence) -> Value {
    match args.target.as_handle() {
        Some(handle) if vm.heap.object(handle).has(flag::SYMBOL) => vm.immutable(sequence),
        _ => vm.buffer(sequence),
    }
}

// ---- shapes of primitives

/// Reads the receiver.
fn read<R>(vm: &mut Vm, args: &Args, look: impl FnOnce(&Sequence) -> R) -> Result<R, Signal> {
    let handle = receiver(vm, args)?;
    pay(vm, size_of(vm, handle))?;
    Ok(look(data(vm, handle)))
}

/// Reads the receiver and the sequence that is the first argument.
fn read_with<R>(vm: &mut Vm, args: &Args, look: impl FnOnce(&Sequence, &Sequence) -> R) -> Result<R, Signal> {
    let (handle, argument) = (receiver(vm, args)?, other(vm, args, 0)?);
    pay(vm, size_of(vm, handle) + size_of(vm, argument))?;
    Ok(look(data(vm, handle), data(vm, argument)))
}

/// Changes the receiver, which must be mutable.
fn change<R>(vm: &mut Vm, args: &Args, edit: impl FnOnce(&mut Sequence) -> R) -> Result<R, Signal> {
    let handle = mutable(vm, args)?;
    pay(vm, size_of(vm, handle))?;
    Ok(vm.heap.sequence_edit(handle, edit).expect("an object of kind Sequence holds a sequence"))
}

/// Changes the receiver by a sequence. A wrong argument is reported before an immutable receiver.
fn change_with<R>(vm: &mut Vm, args: &Args, edit: impl FnOnce(&mut Sequence, &Sequence) -> R) -> Result<R, Signal> {
    let argument = other(vm, args, 0)?;
    let handle = mutable(vm, args)?;
    pay(vm, size_of(vm, handle) + size_of(vm, argument))?;
    Ok(vm.heap.sequence_edit_with(handle, argument, edit).expect("both hold sequences"))
}

/// A change that may be refused and answers the receiver.
fn changed(vm: &mut Vm, args: &Args, edit: impl FnOnce(&mut Sequence) -> Result<(), SequenceError>) -> Outcome {
    let result = change(vm, args, edit)?;
    unwrap(vm, result)?;
    Ok(args.target)
}

fn number(value: usize) -> Value {
    Value::number(value as f64)
}
