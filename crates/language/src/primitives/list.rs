//! List: an ordered collection of values.

use super::{ALL, Args, NONE, ONE, Row, THREE, TWO, refuse};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Value};
use std::cmp::Ordering;

/// No list grows beyond this many items by being given a size: they weigh what the largest Sequence does.
const SIZE_LIMIT_ITEMS: usize = object::sequence::SIZE_LIMIT_BYTES / size_of::<Value>();

pub const TABLE: &[Row] = &[
    ("with", ALL, |vm, args| {
        let values = args.values(vm).to_vec();
        Ok(vm.list(values))
    }),
    ("size", NONE, size),
    ("at", ONE, at),
    ("append", ALL, append),
    ("push", ALL, append),
    ("atPut", TWO, at_put),
    ("atInsert", TWO, at_insert),
    ("removeAt", ONE, remove_at),
    ("removeAll", NONE, |vm, args| {
        let list = args.receiver(vm, Kind::List)?;
        vm.heap.list_edit(list, |items| items.clear());
        Ok(args.target)
    }),
    ("appendSeq", ALL, append_seq),
    ("prepend", ALL, |vm, args| {
        let list = args.receiver(vm, Kind::List)?;
        let values = args.values(vm).to_vec();
        values.into_iter().for_each(|value| {
            vm.heap.list_insert(list, 0, value);
        });
        Ok(args.target)
    }),
    ("appendIfAbsent", ALL, append_if_absent),
    ("remove", ALL, remove),
    ("pop", NONE, |vm, args| {
        let list = args.receiver(vm, Kind::List)?;
        let last = vm.heap.list(list).and_then(|items| items.len().checked_sub(1));
        Ok(last.and_then(|last| vm.heap.list_remove(list, last)).unwrap_or(Value::NIL))
    }),
    ("first", ONE, |vm, args| end(vm, args, true)),
    ("last", ONE, |vm, args| end(vm, args, false)),
    ("indexOf", ONE, |vm, args| Ok(position(vm, &args)?.map_or(Value::NIL, |index| Value::number(index as f64)))),
    ("contains", ONE, |vm, args| {
        let (list, wanted) = (args.receiver(vm, Kind::List)?, args.value(vm, 0));
        Ok(Value::boolean(find(vm, list, wanted)?.is_some()))
    }),
    ("containsIdenticalTo", ONE, |vm, args| {
        let (items, wanted) = (items(vm, &args)?, args.value(vm, 0));
        Ok(Value::boolean(items.contains(&wanted)))
    }),
    ("capacity", NONE, size),
    // A list grows as it must; the size is asked for as for any number, and otherwise ignored.
    ("preallocateToSize", ONE, |vm, args| item_count(vm, &args).map(|_| args.target)),
    ("setSize", ONE, set_size),
    ("swapIndices", TWO, |vm, args| {
        let list = args.receiver(vm, Kind::List)?;
        let (left, right) = (index(vm, &args, 0)?, index(vm, &args, 1)?);
        if let Some(&[first, second]) = vm.heap.list(list).map(|items| [items[left], items[right]]).as_ref() {
            vm.heap.list_set(list, left, second);
            vm.heap.list_set(list, right, first);
        }
        Ok(args.target)
    }),
    ("reverseInPlace", NONE, |vm, args| {
        let list = args.receiver(vm, Kind::List)?;
        let count = vm.heap.list(list).map_or(0, <[Value]>::len);
        vm.charge(count / 8)?;
        vm.heap.list_edit(list, |items| items.reverse());
        Ok(args.target)
    }),
    ("slice", THREE, |vm, args| {
        let chosen = slice(vm, &args)?;
        Ok(vm.list(chosen))
    }),
    ("sliceInPlace", THREE, |vm, args| {
        let chosen = slice(vm, &args)?;
        let list = args.receiver(vm, Kind::List)?;
        vm.heap.list_edit(list, |items| {
            items.clear();
            items.extend(chosen);
        });
        Ok(args.target)
    }),
];

fn size(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    Ok(Value::number(vm.heap.list(list).map_or(0, <[Value]>::len) as f64))
}

/// The items as they are now.
fn items(vm: &mut Vm, args: &Args) -> Result<Vec<Value>, Signal> {
    let list = args.receiver(vm, Kind::List)?;
    let items = vm.heap.list(list).unwrap_or_default().to_vec();
    vm.charge(items.len() / 8)?;
    Ok(items)
}

/// An index argument that must lie in the list. Only reading counts from the end: what changes a list names its place.
fn index(vm: &mut Vm, args: &Args, argument: usize) -> Result<usize, Signal> {
    let list = args.receiver(vm, Kind::List)?;
    let given = args.integer(vm, argument)?;
    let count = vm.heap.list(list).map_or(0, <[Value]>::len);
    match usize::try_from(given) {
        Ok(index) if index < count => Ok(index),
        _ => Err(out_of_bounds(vm, given, count)),
    }
}

#[cold]
fn out_of_bounds(vm: &mut Vm, given: i64, count: usize) -> Signal {
    vm.raise(format!("index {given} is out of bounds: the size of the List is {count}"))
}

/// How many items a change at this place moves: none at either end.
fn moved(at: usize, count: usize) -> usize {
    if at == 0 { 0 } else { count.saturating_sub(at) }
}

fn wrap(index: i64, count: usize) -> Option<usize> {
    usize::try_from(if index < 0 { index.checked_add(count as i64)? } else { index }).ok()
}

fn at(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let given = args.number(vm, 0)? as i64;
    let items = vm.heap.list(list).unwrap_or_default();
    Ok(wrap(given, items.len()).and_then(|index| items.get(index)).copied().unwrap_or(Value::NIL))
}

fn append(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    args.required(vm, 0)?;
    for index in 0..args.count {
        let value = args.value(vm, index);
        vm.heap.list_push(list, value);
    }
    Ok(args.target)
}

fn at_put(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let at = index(vm, &args, 0)?;
    let value = args.value(vm, 1);
    vm.heap.list_set(list, at, value);
    Ok(args.target)
}

fn at_insert(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let given = args.integer(vm, 0)?;
    let value = args.value(vm, 1);
    let count = vm.heap.list(list).map_or(0, <[Value]>::len);
    match usize::try_from(given) {
        Ok(at) if at <= count => {
            vm.charge(moved(at, count) / 64)?;
            vm.heap.list_insert(list, at, value);
            Ok(args.target)
        }
        _ => Err(out_of_bounds(vm, given, count)),
    }
}

fn remove_at(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let given = args.integer(vm, 0)?;
    let count = vm.heap.list(list).map_or(0, <[Value]>::len);
    match usize::try_from(given) {
        Ok(at) if at < count => {
            vm.charge(moved(at, count) / 64)?;
            Ok(vm.heap.list_remove(list, at).unwrap_or(Value::NIL))
        }
        _ => Err(out_of_bounds(vm, given, count)),
    }
}

fn append_seq(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    for argument in 0..args.count {
        let other = args.of_kind(vm, argument, Kind::List)?;
        if other == list {
            return Err(vm.raise("can't add a list to itself"));
        }
        let more = vm.heap.list(other).unwrap_or_default().to_vec();
        vm.reserve(more.len() * 8)?;
        vm.heap.list_extend(list, &more);
    }
    Ok(args.target)
}

fn append_if_absent(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    for argument in 0..args.count {
        let value = args.value(vm, argument);
        if find(vm, list, value)?.is_none() {
            vm.heap.list_push(list, value);
        }
    }
    Ok(args.target)
}

fn remove(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    args.required(vm, 0)?;
    for argument in 0..args.count {
        let value = args.value(vm, argument);
        let mut kept = Vec::new();
        for (index, item) in items(vm, &args)?.into_iter().enumerate() {
            if index % (1 << 16) == 0 {
                vm.check_interrupt()?;
            }
            if !vm.is_equal(item, value)? {
                kept.push(item);
            }
        }
        vm.heap.list_edit(list, |items| {
            items.clear();
            items.extend(kept);
        });
    }
    Ok(args.target)
}

fn position(vm: &mut Vm, args: &Args) -> Result<Option<usize>, Signal> {
    let list = args.receiver(vm, Kind::List)?;
    let wanted = args.required(vm, 0)?;
    find(vm, list, wanted)
}

/// The index of the first item equal to `wanted`.
fn find(vm: &mut Vm, list: Handle, wanted: Value) -> Result<Option<usize>, Signal> {
    let mut index = 0;
    while let Some(&item) = vm.heap.list(list).and_then(|items| items.get(index)) {
        if index % 8 == 0 {
            vm.charge(1)?;
        }
        if vm.is_equal(item, wanted)? {
            return Ok(Some(index));
        }
        index += 1;
    }
    Ok(None)
}

/// first, first(count), last, last(count)
fn end(vm: &mut Vm, args: Args, front: bool) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let wanted = args.optional_number(vm, 0)?;
    let items = vm.heap.list(list).unwrap_or_default();
    let Some(wanted) = wanted else {
        let item = if front { items.first() } else { items.last() };
        return Ok(item.copied().unwrap_or(Value::NIL));
    };
    let count = (wanted.max(0.0) as usize).min(items.len());
    let chosen = if front { &items[..count] } else { &items[items.len() - count..] };
    let chosen = chosen.to_vec();
    vm.reserve(count * 8)?;
    Ok(vm.list(chosen))
}

/// A number of items that a list can have.
fn item_count(vm: &mut Vm, args: &Args) -> Result<usize, Signal> {
    let size = args.number(vm, 0)?;
    if size.is_nan() || size < 0.0 || size > SIZE_LIMIT_ITEMS as f64 {
        let why = format!("cannot make a List of {size} items, the limit is {SIZE_LIMIT_ITEMS}");
        return Err(refuse(vm, args, &why));
    }
    Ok(size as usize)
}

fn set_size(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.receiver(vm, Kind::List)?;
    let size = item_count(vm, &args)?;
    vm.reserve(size * 8)?;
    vm.heap.list_edit(list, |items| items.resize(size, Value::NIL));
    Ok(args.target)
}

/// slice(start, end, step): from start up to but not including end.
fn slice(vm: &mut Vm, args: &Args) -> Result<Vec<Value>, Signal> {
    let items = items(vm, args)?;
    let count = items.len() as i64;
    let step = args.optional_number(vm, 2)?.unwrap_or(1.0) as i64;
    if step == 0 {
        return Err(refuse(vm, args, "step must not be 0"));
    }
    let clip = |index: i64, low: i64, high: i64| (if index < 0 { index + count } else { index }).clamp(low, high);
    let (first, last) = if step > 0 { (0, count) } else { (count - 1, -1) };
    let start = args.optional_number(vm, 0)?.map_or(first, |index| {
        clip(index as i64, if step > 0 { 0 } else { -1 }, if step > 0 { count } else { count - 1 })
    });
    let end = args.optional_number(vm, 1)?.map_or(last, |index| {
        clip(index as i64, if step > 0 { 0 } else { -1 }, if step > 0 { count } else { count - 1 })
    });
    let mut chosen = Vec::new();
    let mut at = start;
    while (step > 0 && at < end) || (step < 0 && at > end) {
        chosen.push(items[at as usize]);
        at += step;
    }
    Ok(chosen)
}

/// Lists compare by length, then item by item. Nested ones are walked with a work list.
pub fn compare_lists(vm: &mut Vm, left: Value, right: Value) -> Result<Ordering, Signal> {
    let mut pending = vec![(left, right)];
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some((left, right)) = pending.pop() {
        if left == right {
            continue;
        }
        let lists = (vm.heap.list(vm.handle_of(left)), vm.heap.list(vm.handle_of(right)));
        let (Some(lefts), Some(rights)) = lists else {
            match vm.compare(left, right)? {
                Ordering::Equal => continue,
                unequal => return Ok(unequal),
            }
        };
        match lefts.len().cmp(&rights.len()) {
            Ordering::Equal => {}
            unequal => return Ok(unequal),
        }
        // Lists may contain themselves: a pair that is met again differs in nothing new.
        if !seen.insert((left, right)) {
            continue;
        }
        let pairs: Vec<(Value, Value)> = lefts.iter().copied().zip(rights.iter().copied()).rev().collect();
        vm.charge(pairs.len() / 8 + 1)?;
        pending.extend(pairs);
    }
    Ok(Ordering::Equal)
}
