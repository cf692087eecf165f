//! Collector and WeakLink: what a program may know of memory.

use super::{NONE, ONE, Row};
use crate::signal::Outcome;
use crate::vm::Vm;
use object::{Data, Kind, Value};

pub const WEAK_LINK_TABLE: &[Row] = &[
    ("link", NONE, |vm, args| {
        // When a link breaks is the collector's business.
        vm.heap.note_host();
        let link = args.receiver(vm, Kind::WeakLink)?;
        Ok(match vm.heap.object(link).data() {
            Data::Weak(target) => *target,
            _ => Value::NIL,
        })
    }),
    ("setLink", ONE, |vm, args| {
        let link = args.receiver(vm, Kind::WeakLink)?;
        let target = args.value(vm, 0);
        vm.heap.set_data(link, Kind::WeakLink, Data::Weak(target));
        Ok(args.target)
    }),
];

pub const TABLE: &[Row] = &[
    // What the call itself holds is on the stack, so it survives.
    ("collect", NONE, |vm, _| told(vm, |vm| vm.collect().freed_objects)),
    ("allocatedBytes", NONE, |vm, _| told(vm, |vm| vm.heap.usage().bytes)),
    ("objectCount", NONE, |vm, _| told(vm, |vm| vm.heap.object_count())),
    ("collections", NONE, |vm, _| told(vm, |vm| vm.heap.usage().collections)),
];

/// What hangs on all that is in memory, and thus on no object.
fn told(vm: &mut Vm, number: impl FnOnce(&mut Vm) -> usize) -> Outcome {
    vm.heap.note_machine();
    Ok(Value::number(number(vm) as f64))
}
