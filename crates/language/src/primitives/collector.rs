//! Collector and WeakLink: what a program may know of memory.

use super::{Function, NONE, ONE, Row};
use crate::vm::Vm;
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

const TABLE: &[Row] = &[
    ("collect", NONE, |vm, args| {
        // What this call itself holds is on the stack, so it survives.
        let _ = args;
        Ok(Value::number(vm.collect().freed_objects as f64))
    }),
    ("allocatedBytes", NONE, |vm, _| Ok(Value::number(vm.heap.usage().bytes as f64))),
    ("objectCount", NONE, |vm, _| Ok(Value::number(vm.heap.object_count() as f64))),
    ("collections", NONE, |vm, _| Ok(Value::number(vm.heap.usage().collections as f64))),
];

/// Makes the Collector itself.
pub fn install(vm: &mut Vm) {
    let collector = vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None);
    let (core, value) = (vm.core(), Value::object(collector));
    vm.set_slot(core, "Collector", value);
    let type_name = vm.symbol("Collector");
    vm.set_slot(value, "type", type_name);
    vm.define_table(collector, TABLE);
    let exception = Value::object(vm.protos.exception);
    vm.define(exception, "rawRaise", NONE, Function::Plain(super::coroutine::raise));
}
