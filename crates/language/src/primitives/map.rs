//! Map: values by the text of their key, in the order in which the keys came.

use super::{Args, LAZY, NONE, ONE, Row, TWO};
use crate::machine::frame::Native;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Symbol, Value};

pub const TABLE: &[Row] = &[
    ("at", LAZY, at),
    ("atPut", TWO, at_put),
    ("atIfAbsentPut", LAZY, begin_at_if_absent_put),
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
        let keys: Vec<Value> = vm.heap.map(map).map(|map| map.keys().map(|&key| key.into()).collect()).unwrap_or_default();
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
        if vm.compare(value, wanted)?.is_eq() {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}

// The state of at and atIfAbsentPut: whether a missing value shall be put, and the key once it is known.
const PUTS: usize = 0;
const KEY: usize = 1;

/// at(key, default): the default is evaluated only if the key is missing.
fn at(vm: &mut Vm, args: Args) -> Outcome {
    begin(vm, args, false)
}

fn begin_at_if_absent_put(vm: &mut Vm, args: Args) -> Outcome {
    begin(vm, args, true)
}

fn begin(vm: &mut Vm, args: Args, puts: bool) -> Outcome {
    args.receiver(vm, Kind::Map)?;
    args.argument(vm, 0)?;
    vm.push_native(Native::AtIfAbsentPut, &args);
    vm.stack.values.extend([Value::boolean(puts), Value::NIL]);
    vm.enter_argument(0)
}

pub fn step_at_if_absent_put(vm: &mut Vm, value: Value) -> Outcome {
    let target = vm.top().target;
    let map = vm.handle_of(target);
    let key = vm.state(KEY);
    if !key.is_nil() {
        if vm.state(PUTS).is_true() {
            vm.heap.map_put(map, vm.handle_of(key), value);
        }
        return Ok(value);
    }
    let Some(key) = vm.symbol_of(value) else {
        let type_name = vm.type_name(value);
        return Err(vm.raise(format!("argument 0 to method 'at' must be a Sequence, not a '{type_name}'")));
    };
    if let Some(&found) = vm.heap.map(map).and_then(|map| map.get(&key)) {
        return Ok(found);
    }
    vm.set_state(KEY, Value::object(key));
    vm.enter_argument(1)
}
