//! Collector and WeakLink: what a program may know of memory.

use super::{NONE, ONE, Row};
use object::{Data, Kind, Value};

pub const WEAK_LINK_TABLE: &[Row] = &[
    ("link", NONE, |vm, args| {
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
    ("collect", NONE, |vm, _| Ok(Value::number(vm.collect().freed_objects as f64))),
    ("allocatedBytes", NONE, |vm, _| Ok(Value::number(vm.heap.usage().bytes as f64))),
    ("objectCount", NONE, |vm, _| Ok(Value::number(vm.heap.object_count() as f64))),
    ("collections", NONE, |vm, _| Ok(Value::number(vm.heap.usage().collections as f64))),
];
