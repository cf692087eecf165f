//! Map: values by the text of their key, in the order in which the keys came.

use super::{Args, NONE, ONE, Row, TWO};
use crate::machine::frame::Native;
use crate::message;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Symbol, Value};

pub const TABLE: &[Row] = &[
    ("at", ONE, at),
    ("atPut", TWO, at_put),
    ("atIfAbsentPut", ONE, at_if_absent_put),
    ("removeAt", ONE, |vm, args| {
        let (map, key) = keyed(vm, &args)?;
        vm.heap.map_remove(map, key);
        Ok(args.target)
    }),
    ("empty", NONE, |vm, args| {
        let map = args.receiver(vm, Kind::Map)?;
        vm.heap.map_clear(map);
        Ok(args.target)
    }),
    ("size", NONE, |vm, args| {
        let map = args.receiver(vm, Kind::Map)?;
        Ok(Value::number(vm.heap.map(map).map_or(0, |map| map.len()) as f64))
    }),
    ("hasKey", ONE, |vm, args| {
        let (map, key) = keyed(vm, &args)?;
        Ok(Value::boolean(vm.heap.map(map).is_some_and(|map| map.contains_key(&key))))
    }),
    ("hasValue", ONE, has_value),
    ("keys", NONE, |vm, args| {
        let map = args.receiver(vm, Kind::Map)?;
        let keys: Vec<Value> =
            vm.heap.map(map).map(|map| map.keys().map(|&key| key.into()).collect()).unwrap_or_default();
        vm.charge(keys.len())?;
        Ok(vm.list(keys))
    }),
    ("values", NONE, |vm, args| {
        let values = values_of(vm, &args)?;
        Ok(vm.list(values))
    }),
];

#[inline]
fn keyed(vm: &mut Vm, args: &Args) -> Result<(Handle, Symbol), Signal> {
    let map = args.receiver(vm, Kind::Map)?;
    Ok((map, args.symbol(vm, 0)?))
}

fn values_of(vm: &mut Vm, args: &Args) -> Result<Vec<Value>, Signal> {
    let map = args.receiver(vm, Kind::Map)?;
    let values: Vec<Value> = vm.heap.map(map).map(|map| map.values().copied().collect()).unwrap_or_default();
    vm.charge(values.len())?;
    Ok(values)
}

fn at_put(vm: &mut Vm, args: Args) -> Outcome {
    let (map, key) = keyed(vm, &args)?;
    let value = args.value(vm, 1);
    vm.heap.map_put(map, key, value);
    Ok(args.target)
}

fn has_value(vm: &mut Vm, args: Args) -> Outcome {
    let wanted = args.value(vm, 0);
    for value in values_of(vm, &args)? {
        if vm.is_equal(value, wanted)? {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}

/// at(key, default): the default is evaluated only if the key is missing.
fn at(vm: &mut Vm, args: Args) -> Outcome {
    let (map, key) = keyed(vm, &args)?;
    match vm.heap.map(map).and_then(|map| map.get(&key)) {
        Some(&value) => Ok(value),
        None => match message::argument(&vm.heap, args.message, 1) {
            Some(default) => {
                let sender = args.sender()?;
                vm.push_chain(default, sender, sender);
                Err(Signal::Entered)
            }
            None => Ok(Value::NIL),
        },
    }
}

/// atIfAbsentPut(key, value): the value is evaluated, and put, only if the key is missing.
fn at_if_absent_put(vm: &mut Vm, args: Args) -> Outcome {
    let (map, key) = keyed(vm, &args)?;
    if let Some(&value) = vm.heap.map(map).and_then(|map| map.get(&key)) {
        return Ok(value);
    }
    vm.push_native(Native::AtIfAbsentPut, &args.reified()?);
    vm.stack.values.push(Value::object(key));
    vm.enter_argument(1)
}

pub fn step_at_if_absent_put(vm: &mut Vm, value: Value) -> Outcome {
    let (target, key) = (vm.top().target, vm.state(0));
    vm.heap.map_put(vm.handle_of(target), vm.handle_of(key), value);
    Ok(value)
}
