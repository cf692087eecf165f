//! Putting sequences together. What is joined need be no text: numbers are written out, and other objects are asked
//! for `asString`, in a frame of their own, before anything is changed.

use super::super::{ALL, Args, ONE, Row, TWO};
use super::{count, data, mutable, other, own, receiver, room, size_of, unwrap};
use crate::machine::frame::{Frame, Native, Phase};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::number_text::format_number;
use object::sequence::Sequence;
use object::{Kind, Value, flag};

pub const TABLE: &[Row] = &[
    ("..", ONE, |vm, args| joined(vm, args, Join::Clone)),
    ("cloneAppendSeq", ONE, clone_append_seq),
    ("appendSeq", ALL, |vm, args| joined(vm, args, Join::Append)),
    ("atInsertSeq", TWO, |vm, args| joined(vm, args, Join::Insert)),
    ("insertSeqEvery", TWO, |vm, args| joined(vm, args, Join::Every)),
    ("with", ALL, with),
    ("join", ONE, join),
];

/// What is done with the texts. The numbers are part of saved stacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    Clone = 0,
    Append = 1,
    Insert = 2,
    Every = 3,
}

impl Join {
    fn from_number(number: f64) -> Join {
        [Join::Clone, Join::Append, Join::Insert, Join::Every][(number as usize).min(3)]
    }

    /// Whether this argument is taken as text.
    fn takes_text(self, index: usize) -> bool {
        match self {
            Join::Append => true,
            Join::Clone | Join::Every => index == 0,
            Join::Insert => index == 1,
        }
    }

    fn run(self, vm: &mut Vm, args: Args) -> Outcome {
        match self {
            Join::Clone => clone_append_seq(vm, args),
            Join::Append => append_seq(vm, args),
            Join::Insert => at_insert_seq(vm, args),
            Join::Every => insert_seq_every(vm, args),
        }
    }
}

fn is_plain(vm: &Vm, value: Value) -> bool {
    matches!(vm.kind_of(value), Kind::Sequence | Kind::Number)
}

#[inline]
fn joined(vm: &mut Vm, args: Args, join: Join) -> Outcome {
    if join == Join::Append {
        mutable(vm, &args)?;
    }
    let plain = (0..args.count).all(|index| !join.takes_text(index) || is_plain(vm, args.value(vm, index)));
    if plain {
        return join.run(vm, args);
    }
    let values = args.values(vm).to_vec();
    vm.push_native(Native::AskTexts, &args.reified()?);
    vm.stack.values.push(Value::number(join as u8 as f64));
    vm.stack.values.extend(values);
    Err(Signal::Entered)
}

/// Asks argument after argument; the values on the frame become texts one by one.
pub fn step_ask_texts(vm: &mut Vm, text: Value) -> Outcome {
    let Frame { phase, base, message, target, locals, holder, .. } = *vm.top();
    let Phase::Step(step) = phase else { return Ok(Value::NIL) };
    let (first, mut index) = (base as usize + 1, step as usize);
    let join = Join::from_number(vm.state(0).as_number().unwrap_or(0.0));
    let args = Args { target, at: first, count: vm.stack.values.len() - first, message, locals, holder };
    if !text.is_absent() {
        vm.stack.values[first + index] = text;
        if !is_plain(vm, text) {
            return Err(args.wrong(vm, index, "Sequence"));
        }
        index += 1;
    }
    while index < args.count {
        let value = args.value(vm, index);
        if join.takes_text(index) && !is_plain(vm, value) {
            vm.top().phase = Phase::Step(index as u32);
            let as_string = vm.bare_message(vm.names.as_string);
            vm.push_chain(as_string, value, locals);
            return Err(Signal::Entered);
        }
        index += 1;
    }
    join.run(vm, args)
}

/// `..`: a symbol with the text of both.
#[inline]
fn clone_append_seq(vm: &mut Vm, args: Args) -> Outcome {
    let right = args.value(vm, 0);
    let handle = receiver(vm, &args)?;
    let more = vm.sequence_of(right).map_or(0, Sequence::size_in_bytes);
    room(vm, 0, size_of(vm, handle) + more)?;
    let left = data(vm, handle);
    let whole = match (vm.sequence_of(right), vm.number_of(right)) {
        (Some(right), _) => left.clone_append_seq(right),
        (None, Some(number)) => {
            let mut whole = left.clone();
            whole.push_bytes(format_number(number).as_bytes());
            whole
        }
        (None, None) => {
            return Err(args.wrong(vm, 0, "Sequence or Number"));
        }
    };
    Ok(vm.immutable(whole))
}

#[inline]
fn append_seq(vm: &mut Vm, args: Args) -> Outcome {
    let handle = mutable(vm, &args)?;
    args.required(vm, 0)?;
    for index in 0..args.count {
        let value = args.value(vm, index);
        match (value.as_handle(), vm.number_of(value)) {
            (_, Some(number)) => {
                let text = format_number(number);
                vm.heap.sequence_edit(handle, |own| own.push_bytes(text.as_bytes()));
            }
            (Some(other), None) => {
                room(vm, size_of(vm, handle), size_of(vm, other))?;
                vm.heap.sequence_edit_with(handle, other, Sequence::append_seq);
            }
            (None, None) => {}
        }
    }
    Ok(args.target)
}

/// A text argument as a sequence of its own.
fn text(vm: &mut Vm, args: &Args, index: usize) -> Result<Sequence, Signal> {
    let value = args.value(vm, index);
    match vm.number_of(value) {
        Some(number) => Ok(Sequence::from(format_number(number))),
        None => {
            let other = other(vm, args, index)?;
            vm.reserve(size_of(vm, other))?;
            Ok(data(vm, other).clone())
        }
    }
}

fn at_insert_seq(vm: &mut Vm, args: Args) -> Outcome {
    let index = count(vm, &args, 0)?;
    let text = text(vm, &args, 1)?;
    let handle = mutable(vm, &args)?;
    room(vm, size_of(vm, handle), text.size_in_bytes())?;
    super::changed(vm, &args, |own| own.at_insert_seq(index, &text))
}

fn insert_seq_every(vm: &mut Vm, args: Args) -> Outcome {
    let text = text(vm, &args, 0)?;
    let every = count(vm, &args, 1)?;
    let handle = mutable(vm, &args)?;
    let times = data(vm, handle).len() / every.max(1);
    vm.reserve(times.saturating_mul(text.size_in_bytes()))?;
    super::changed(vm, &args, |own| own.insert_seq_every(&text, every))
}

/// with(a, b, …): the receiver and all of them, a symbol if the receiver is one.
fn with(vm: &mut Vm, args: Args) -> Outcome {
    let handle = receiver(vm, &args)?;
    let mut bytes = size_of(vm, handle);
    for index in 0..args.count {
        let part = other(vm, &args, index)?;
        bytes = bytes.saturating_add(size_of(vm, part));
    }
    room(vm, 0, bytes)?;
    let mut whole = own(vm, &args)?.clone();
    for &part in args.values(vm) {
        vm.sequence_of(part).into_iter().for_each(|part| whole.append_seq(part));
    }
    match vm.heap.object(handle).has(flag::SYMBOL) {
        true => Ok(vm.immutable(whole)),
        false => Ok(vm.buffer(whole)),
    }
}

/// join(list): the sequences of the list with the receiver between them.
fn join(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    let handles = super::search::sequences(vm, &values)?;
    let separators = own(vm, &args)?.size_in_bytes().saturating_mul(handles.len());
    let bytes = handles.iter().fold(separators, |total, &part| total.saturating_add(size_of(vm, part)));
    super::pay(vm, bytes)?;
    vm.reserve(bytes)?;
    let parts: Vec<&Sequence> = handles.iter().map(|&part| data(vm, part)).collect();
    let result = data(vm, vm.handle_of(args.target)).join(&parts);
    let whole = unwrap(vm, result)?;
    Ok(vm.buffer(whole))
}
