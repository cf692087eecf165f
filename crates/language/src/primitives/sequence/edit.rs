//! Changing a mutable sequence in place: removing, replacing, stripping, reordering, resizing.

use super::super::{ALL, Args, NONE, ONE, Row, THREE, TWO, refuse};
use super::{change, change_with, changed, count, data, mutable, optional_integer, other, own, pay, size_of, unwrap};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::{SIZE_LIMIT_BYTES, Sequence};
use object::{Kind, Value};

pub const TABLE: &[Row] = &[
    ("append", ALL, append),
    ("copy", ONE, |vm, args| {
        mutable(vm, &args)?;
        let from = other(vm, &args, 0)?;
        vm.reserve(size_of(vm, from))?;
        done(&args, change_with(vm, &args, Sequence::copy))
    }),
    ("atPut", TWO, at_put),
    ("set", ALL, |vm, args| {
        mutable(vm, &args)?;
        let numbers = numbers(vm, &args)?;
        changed(vm, &args, |own| own.set_numbers(&numbers))
    }),
    ("removeAt", ONE, |vm, args| {
        mutable(vm, &args)?;
        let index = args.integer(vm, 0)?;
        Ok(change(vm, &args, |own| own.remove_at(index))?.map_or(Value::NIL, Value::number))
    }),
    ("removeSlice", TWO, |vm, args| {
        let (start, end) = (args.integer(vm, 0)?, args.integer(vm, 1)?);
        done(&args, change(vm, &args, |own| own.remove_slice(start, end)))
    }),
    ("removeLast", NONE, |vm, args| {
        let handle = mutable(vm, &args)?;
        vm.heap.sequence_edit(handle, Sequence::remove_last);
        Ok(args.target)
    }),
    ("leaveThenRemove", TWO, |vm, args| {
        let (leave, remove) = (count(vm, &args, 0)?, count(vm, &args, 1)?);
        changed(vm, &args, |own| own.leave_then_remove(leave, remove))
    }),
    ("setSize", ONE, |vm, args| {
        let items = sized(vm, &args)?;
        changed(vm, &args, |own| own.set_size(items))
    }),
    ("preallocateToSize", ONE, |vm, args| {
        let items = sized(vm, &args)?;
        changed(vm, &args, |own| own.preallocate_to_size(items))
    }),
    ("replaceSeq", TWO, replace_seq),
    ("replaceFirstSeq", THREE, replace_first_seq),
    ("replaceMap", ONE, replace_map),
    ("removeSeq", ONE, |vm, args| {
        let result = change_with(vm, &args, Sequence::remove_seq)?;
        unwrap(vm, result)?;
        Ok(args.target)
    }),
    ("translate", TWO, |vm, args| {
        let (from, to) = two(vm, &args)?;
        changed(vm, &args, |own| own.translate(&from, &to))
    }),
    ("clipBeforeSeq", ONE, |vm, args| clip(vm, args, Sequence::clip_before_seq)),
    ("clipAfterSeq", ONE, |vm, args| clip(vm, args, Sequence::clip_after_seq)),
    ("clipBeforeEndOfSeq", ONE, |vm, args| clip(vm, args, Sequence::clip_before_end_of_seq)),
    ("clipAfterStartOfSeq", ONE, |vm, args| clip(vm, args, Sequence::clip_after_start_of_seq)),
    ("removePrefix", ONE, |vm, args| done(&args, change_with(vm, &args, Sequence::remove_prefix))),
    ("removeSuffix", ONE, |vm, args| done(&args, change_with(vm, &args, Sequence::remove_suffix))),
    ("strip", ONE, |vm, args| strip(vm, args, Sequence::strip)),
    ("lstrip", ONE, |vm, args| strip(vm, args, Sequence::lstrip)),
    ("rstrip", ONE, |vm, args| strip(vm, args, Sequence::rstrip)),
    ("empty", NONE, |vm, args| {
        let handle = mutable(vm, &args)?;
        vm.heap.sequence_edit(handle, Sequence::empty);
        Ok(args.target)
    }),
    ("zero", NONE, |vm, args| done(&args, change(vm, &args, Sequence::clear))),
    ("sort", NONE, |vm, args| {
        let items = own(vm, &args)?.len();
        vm.charge(items / 8 * (items.max(1).ilog2() as usize + 1))?;
        done(&args, change(vm, &args, Sequence::sort))
    }),
    ("reverseInPlace", NONE, |vm, args| done(&args, change(vm, &args, Sequence::reverse_in_place))),
    ("duplicateIndexes", NONE, |vm, args| {
        let bytes = own(vm, &args)?.size_in_bytes();
        vm.reserve(bytes)?;
        done(&args, change(vm, &args, Sequence::duplicate_indexes))
    }),
    ("removeOddIndexes", NONE, |vm, args| done(&args, change(vm, &args, Sequence::remove_odd_indexes))),
    ("removeEvenIndexes", NONE, |vm, args| done(&args, change(vm, &args, Sequence::remove_even_indexes))),
];

/// The answer of a change that cannot fail once its arguments are right.
fn done(args: &Args, result: Result<(), Signal>) -> Outcome {
    result.map(|()| args.target)
}

fn append(vm: &mut Vm, args: Args) -> Outcome {
    let handle = mutable(vm, &args)?;
    args.required(vm, 0)?;
    for index in 0..args.count {
        let number = args.number(vm, index)?;
        vm.heap.sequence_edit(handle, |own| own.append_number(number));
    }
    Ok(args.target)
}

fn numbers(vm: &mut Vm, args: &Args) -> Result<Vec<f64>, Signal> {
    (0..args.count).map(|index| args.number(vm, index)).collect()
}

fn at_put(vm: &mut Vm, args: Args) -> Outcome {
    let index = args.integer(vm, 0)?;
    let handle = mutable(vm, &args)?;
    let number = args.number(vm, 1)?;
    let (items, item_size) = (data(vm, handle).len(), data(vm, handle).item_size());
    if index >= items as i64 {
        let items = (index as usize).saturating_add(1).min(SIZE_LIMIT_BYTES);
        vm.reserve(items * item_size)?;
    }
    let result = vm.heap.sequence_edit(handle, |own| own.at_put(index, number)).unwrap_or(Ok(()));
    unwrap(vm, result)?;
    Ok(args.target)
}

/// A number of items that the receiver shall have room for.
fn sized(vm: &mut Vm, args: &Args) -> Result<usize, Signal> {
    let handle = mutable(vm, args)?;
    let items = count(vm, args, 0)?;
    let bytes = items.saturating_mul(data(vm, handle).item_size());
    if bytes <= SIZE_LIMIT_BYTES {
        vm.reserve(bytes.saturating_sub(size_of(vm, handle)))?;
    }
    Ok(items)
}

/// The first two arguments, copied: they are short as a rule, and one may be the receiver.
fn two(vm: &mut Vm, args: &Args) -> Result<(Sequence, Sequence), Signal> {
    let (first, second) = (other(vm, args, 0)?, other(vm, args, 1)?);
    pay(vm, size_of(vm, first) + size_of(vm, second))?;
    Ok((data(vm, first).clone(), data(vm, second).clone()))
}

fn replace_seq(vm: &mut Vm, args: Args) -> Outcome {
    let (from, to) = two(vm, &args)?;
    replace(vm, &args, &from, &to)
}

/// Replaces all, having counted first what room that takes.
fn replace(vm: &mut Vm, args: &Args, from: &Sequence, to: &Sequence) -> Outcome {
    let handle = mutable(vm, args)?;
    if to.size_in_bytes() > from.size_in_bytes() {
        pay(vm, size_of(vm, handle))?;
        let times = data(vm, handle).occurrences_of_seq(from);
        vm.reserve(times.saturating_mul(to.size_in_bytes()))?;
    }
    changed(vm, args, |own| own.replace_seq(from, to))
}

fn replace_first_seq(vm: &mut Vm, args: Args) -> Outcome {
    let (from, to) = two(vm, &args)?;
    let start = optional_integer(vm, &args, 2)?.unwrap_or(0).max(0) as usize;
    done(&args, change(vm, &args, |own| own.replace_first_seq(&from, &to, start)))
}

fn replace_map(vm: &mut Vm, args: Args) -> Outcome {
    let map = args.of_kind(vm, 0, Kind::Map)?;
    mutable(vm, &args)?;
    let entries: Vec<_> = vm.heap.map(map).into_iter().flatten().map(|(&key, &value)| (key, value)).collect();
    let mut pairs = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(to) = vm.sequence_of(value).cloned() else {
            let given = vm.described(value);
            return Err(refuse(
                vm,
                &args,
                &format!("needs a Map with Sequences for values, but one of them is {given}"),
            ));
        };
        pairs.push((data(vm, key).clone(), to));
    }
    for (from, to) in &pairs {
        replace(vm, &args, from, to)?;
    }
    Ok(args.target)
}

fn clip(vm: &mut Vm, args: Args, cut: fn(&mut Sequence, &Sequence) -> bool) -> Outcome {
    change_with(vm, &args, cut)?;
    Ok(args.target)
}

fn strip(vm: &mut Vm, args: Args, cut: fn(&mut Sequence, Option<&Sequence>)) -> Outcome {
    mutable(vm, &args)?;
    if args.count == 0 {
        return done(&args, change(vm, &args, |own| cut(own, None)));
    }
    done(&args, change_with(vm, &args, |own, set| cut(own, Some(set))))
}
