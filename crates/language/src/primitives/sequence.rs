//! Sequence: text, bytes and vectors.

use super::{ALL, Args, LAZY, NONE, ONE, Row, refuse};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Handle, Kind, Value, flag};
use std::cmp::Ordering;

pub const TABLE: &[Row] = &[
    ("size", NONE, |vm, args| {
        let size = own(vm, &args)?.len();
        Ok(Value::number(size as f64))
    }),
    ("..", ONE, join),
    ("asString", NONE, |vm, args| {
        let copy = own(vm, &args)?.clone();
        Ok(vm.immutable(copy))
    }),
    ("asMutable", NONE, |vm, args| {
        let copy = own(vm, &args)?.clone();
        Ok(vm.buffer(copy))
    }),
    ("appendSeq", ALL, append_seq),
    ("foreach", LAZY, super::iterate::begin_foreach_item),
];

pub fn order(left: &Sequence, right: &Sequence) -> Ordering {
    left.compare(right)
}

fn own<'v>(vm: &'v mut Vm, args: &Args) -> Result<&'v Sequence, Signal> {
    if vm.sequence_of(args.target).is_none() {
        return Err(args.wrong_receiver(vm, Kind::Sequence));
    }
    Ok(vm.sequence_of(args.target).expect("just seen"))
}

/// The receiver, which must be mutable.
fn mutable(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    let handle = args.receiver(vm, Kind::Sequence)?;
    if vm.heap.object(handle).has(flag::SYMBOL) {
        return Err(refuse(vm, args, "cannot be called on an immutable Sequence"));
    }
    Ok(handle)
}

fn join(vm: &mut Vm, args: Args) -> Outcome {
    let other = args.value(vm, 0);
    let Some(text) = vm.simple_text(other) else { return Err(args.wrong(vm, 0, "Sequence")) };
    let mut bytes = own(vm, &args)?.as_bytes().to_vec();
    bytes.extend(text.as_bytes());
    Ok(vm.immutable(Sequence::from_vec(bytes)))
}

fn append_seq(vm: &mut Vm, args: Args) -> Outcome {
    let handle = mutable(vm, &args)?;
    for index in 0..args.count {
        let value = args.value(vm, index);
        let Some(text) = vm.simple_text(value) else { return Err(args.wrong(vm, index, "Sequence")) };
        vm.heap.sequence_edit(handle, |sequence| sequence.push_bytes(text.as_bytes()));
    }
    Ok(args.target)
}
