//! Finding sequences in a sequence, and cutting it at what was found or at an index.

use super::super::{ALL, Args, ONE, Row, TWO};
use super::text::bounds;
use super::{alike, data, number, optional_integer, other, own, pay, read, read_with, receiver, size_of, unwrap};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Data, Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("findSeq", TWO, find_seq),
    ("reverseFindSeq", TWO, reverse_find_seq),
    ("findSeqs", TWO, find_seqs),
    ("beginsWithSeq", ONE, |vm, args| edge(vm, args, Sequence::begins_with_seq)),
    ("endsWithSeq", ONE, |vm, args| edge(vm, args, Sequence::ends_with_seq)),
    ("containsSeq", ONE, |vm, args| read_with(vm, &args, Sequence::contains_seq).map(Value::boolean)),
    ("containsAnyCaseSeq", ONE, |vm, args| read_with(vm, &args, Sequence::contains_any_case_seq).map(Value::boolean)),
    ("contains", ONE, |vm, args| {
        let wanted = args.number(vm, 0)?;
        read(vm, &args, |own| own.contains_number(wanted)).map(Value::boolean)
    }),
    ("occurrencesOfSeq", ONE, |vm, args| read_with(vm, &args, Sequence::occurrences_of_seq).map(number)),
    ("beforeSeq", ONE, |vm, args| {
        let part = read_with(vm, &args, Sequence::before_seq)?;
        Ok(alike(vm, &args, part))
    }),
    ("afterSeq", ONE, |vm, args| {
        let part = read_with(vm, &args, Sequence::after_seq)?;
        Ok(part.map_or(Value::NIL, |part| alike(vm, &args, part)))
    }),
    ("between", TWO, between),
    ("betweenSeq", TWO, between),
    ("exclusiveSlice", TWO, |vm, args| slice(vm, args, Sequence::exclusive_slice)),
    ("exSlice", TWO, |vm, args| slice(vm, args, Sequence::exclusive_slice)),
    ("inclusiveSlice", TWO, |vm, args| slice(vm, args, Sequence::inclusive_slice)),
    ("inSlice", TWO, |vm, args| slice(vm, args, Sequence::inclusive_slice)),
    ("split", ALL, split),
    ("splitAt", ONE, split_at),
];

fn found(position: Option<usize>) -> Outcome {
    Ok(position.map_or(Value::NIL, number))
}

/// Where a search starts, as upstream takes it: what is negative is before the start, and finds nothing.
fn find_seq(vm: &mut Vm, args: Args) -> Outcome {
    let wanted = other(vm, &args, 0)?;
    let Ok(from) = usize::try_from(optional_integer(vm, &args, 1)?.unwrap_or(0)) else { return Ok(Value::NIL) };
    let handle = receiver(vm, &args)?;
    pay(vm, size_of(vm, handle).saturating_sub(from) + size_of(vm, wanted))?;
    found(data(vm, handle).find_seq(data(vm, wanted), from))
}

fn reverse_find_seq(vm: &mut Vm, args: Args) -> Outcome {
    other(vm, &args, 0)?;
    let before = match optional_integer(vm, &args, 1)?.map(usize::try_from) {
        None => None,
        Some(Ok(before)) => Some(before),
        Some(Err(_)) => return Ok(Value::NIL),
    };
    found(read_with(vm, &args, |own, other| own.reverse_find_seq(other, before))?)
}

/// findSeqs(list, start): an object with the slots `index` and `match`.
fn find_seqs(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let wanted = vm.heap.list(list).unwrap_or_default().to_vec();
    let handles = sequences(vm, &wanted)?;
    let Ok(from) = usize::try_from(optional_integer(vm, &args, 1)?.unwrap_or(0)) else { return Ok(Value::NIL) };
    let handle = receiver(vm, &args)?;
    pay(vm, size_of(vm, handle).saturating_mul(handles.len()))?;
    let others: Vec<&Sequence> = handles.iter().map(|&handle| data(vm, handle)).collect();
    let Some((index, which)) = data(vm, handle).find_seqs(&others, from) else { return Ok(Value::NIL) };
    let result = Value::object(vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None));
    vm.set_slot(result, "index", number(index));
    vm.set_slot(result, "match", wanted[which]);
    Ok(result)
}

/// These values, which must all be sequences.
pub(super) fn sequences(vm: &mut Vm, values: &[Value]) -> Result<Vec<Handle>, Signal> {
    let mut handles = Vec::with_capacity(values.len());
    for &value in values {
        match value.as_handle() {
            Some(handle) if vm.heap.kind(handle) == Kind::Sequence => handles.push(handle),
            _ => {
                let name = vm.type_name(value);
                return Err(vm.raise(format!("requires Sequences as arguments, not {name}s")));
            }
        }
    }
    Ok(handles)
}

/// Looks at one end only, so what the receiver holds beyond does not count.
fn edge(vm: &mut Vm, args: Args, holds: fn(&Sequence, &Sequence) -> bool) -> Outcome {
    let wanted = other(vm, &args, 0)?;
    pay(vm, size_of(vm, wanted))?;
    let handle = receiver(vm, &args)?;
    Ok(Value::boolean(holds(data(vm, handle), data(vm, wanted))))
}

/// between(from, to): either may be nil.
fn between(vm: &mut Vm, args: Args) -> Outcome {
    let (from, to) = (marker(vm, &args, 0)?, marker(vm, &args, 1)?);
    let handle = receiver(vm, &args)?;
    pay(vm, size_of(vm, handle))?;
    let part = data(vm, handle).between_seq(from.map(|from| data(vm, from)), to.map(|to| data(vm, to)));
    Ok(part.map_or(Value::NIL, |part| vm.buffer(part)))
}

fn marker(vm: &mut Vm, args: &Args, index: usize) -> Result<Option<Handle>, Signal> {
    let value = args.value(vm, index);
    if value.is_nil() {
        return Ok(None);
    }
    match value.as_handle() {
        Some(handle) if vm.heap.kind(handle) == Kind::Sequence => Ok(Some(handle)),
        _ => {
            let name = vm.type_name(value);
            Err(vm.raise(format!("Nil or Sequence argument required for arg {index}, not a {name}")))
        }
    }
}

fn slice(vm: &mut Vm, args: Args, cut: fn(&Sequence, i64, Option<i64>) -> Sequence) -> Outcome {
    let (start, end) = bounds(vm, &args)?;
    let part = cut(own(vm, &args)?, start, end);
    pay(vm, part.size_in_bytes())?;
    Ok(alike(vm, &args, part))
}

/// About what a part costs besides its items.
const PART_BYTES: usize = 128;

/// The parts of a longer text are counted before they are made: there may be as many as bytes.
const COUNTED_BYTES: usize = 256 * 1024;

fn split(vm: &mut Vm, args: Args) -> Outcome {
    let values = args.values(vm).to_vec();
    let handles = sequences(vm, &values)?;
    let handle = receiver(vm, &args)?;
    let bytes = size_of(vm, handle);
    pay(vm, bytes.saturating_mul(handles.len().max(1)))?;
    vm.reserve(bytes)?;
    if bytes > COUNTED_BYTES {
        let separators: Vec<&Sequence> = handles.iter().map(|&handle| data(vm, handle)).collect();
        let result = data(vm, handle).split_count(&separators);
        let count = unwrap(vm, result)?;
        vm.reserve(count.saturating_mul(PART_BYTES))?;
    }
    let separators: Vec<&Sequence> = handles.iter().map(|&handle| data(vm, handle)).collect();
    let result = data(vm, handle).split(&separators);
    let parts = unwrap(vm, result)?;
    vm.reserve(parts.len().saturating_mul(PART_BYTES))?;
    let parts: Vec<Value> = parts.into_iter().map(|part| vm.buffer(part)).collect();
    Ok(vm.list(parts))
}

fn split_at(vm: &mut Vm, args: Args) -> Outcome {
    let index = args.integer(vm, 0)?;
    let (before, after) = read(vm, &args, |own| own.split_at(index))?;
    let parts = [vm.immutable(before), vm.immutable(after)];
    Ok(vm.list(parts))
}
