//! Iteration over numbers, lists, maps, sequences and slots: one state machine for all of them.

use super::{Args, LAZY, Row};
use crate::machine::frame::{Frame, Native};
use crate::message;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

pub const NUMBER_TABLE: &[Row] = &[("repeat", LAZY, begin_repeat)];
pub const LIST_TABLE: &[Row] = &[
    ("foreach", LAZY, |vm, args| begin_foreach(vm, args, false)),
    ("reverseForeach", LAZY, |vm, args| begin_foreach(vm, args, true)),
];
pub const MAP_TABLE: &[Row] = &[("foreach", LAZY, |vm, args| begin_foreach(vm, args, false))];

// The state of a repeat: how often it ran, how often it shall.
const DONE: usize = 0;
const WANTED: usize = 1;

fn begin_repeat(vm: &mut Vm, args: Args) -> Outcome {
    args.argument(vm, 0)?;
    if vm.number_of(args.target).is_none() {
        return Err(args.wrong_receiver(vm, Kind::Number));
    }
    if vm.push_loop(&args, "repeat") {
        return Err(Signal::Entered);
    }
    let wanted = vm.number_of(args.target).unwrap_or(0.0);
    vm.push_native(Native::Repeat, &args);
    vm.stack.values.extend([Value::number(0.0), Value::number(wanted)]);
    Err(Signal::Entered)
}

pub fn step_repeat(vm: &mut Vm, result: Value) -> Outcome {
    let (done, wanted) = (vm.state(DONE), vm.state(WANTED));
    let (Some(done), Some(wanted)) = (done.as_number(), wanted.as_number()) else { return Ok(Value::NIL) };
    if done >= wanted {
        return Ok(result.or_nil());
    }
    vm.charge(1)?;
    vm.set_state(DONE, Value::number(done + 1.0));
    let Frame { message, locals, .. } = *vm.top();
    let counts = message::argument_count(&vm.heap, message) > 1;
    if counts && let Some(name) = message::argument(&vm.heap, message, 0) {
        let name = message::name(&vm.heap, name);
        vm.put_slot(vm.handle_of(locals), name, Value::number(done));
    }
    vm.enter_argument(counts as usize)
}

// The state of a foreach: where it is, which way it goes (nil: through slots), and, where the collection could change
// under it, a copy.
const INDEX: usize = 0;
const BACKWARDS: usize = 1;
const KEYS: usize = 2;

/// foreach(index, value, body), foreach(value, body), foreach(message)
fn begin_foreach(vm: &mut Vm, args: Args, backwards: bool) -> Outcome {
    args.argument(vm, backwards as usize)?;
    let is_list = args.target.as_handle().is_some_and(|handle| vm.heap.list(handle).is_some());
    if !backwards && is_list && vm.push_loop(&args, "foreach") {
        return Err(Signal::Entered);
    }
    let keys = keys_of(vm, args.target)?;
    let first = if backwards { size_of(vm, args.target, keys) as f64 } else { 0.0 };
    vm.push_native(Native::Foreach, &args);
    vm.stack.values.extend([Value::number(first), Value::boolean(backwards), keys]);
    Err(Signal::Entered)
}

/// foreachSlot(name, value, body): by name in order.
pub fn begin_foreach_slot(vm: &mut Vm, args: Args) -> Outcome {
    args.argument(vm, 0)?;
    let mut names = args.target.as_handle().map(|handle| super::slots::own_names(vm, handle)).unwrap_or_default();
    vm.charge(names.len())?;
    names.sort_by(|&left, &right| vm.heap.symbol_text(left).cmp(&vm.heap.symbol_text(right)));
    let keys = vm.list(names.into_iter().map(Value::object));
    vm.push_native(Native::Foreach, &args);
    vm.stack.values.extend([Value::number(0.0), Value::NIL, keys]);
    Err(Signal::Entered)
}

/// The keys of a map as they are now; nil for what is walked by index.
fn keys_of(vm: &mut Vm, target: Value) -> Outcome {
    let Some(map) = target.as_handle().and_then(|handle| vm.heap.map(handle)) else { return Ok(Value::NIL) };
    let keys: Vec<Value> = map.keys().map(|&key| Value::object(key)).collect();
    vm.charge(keys.len())?;
    Ok(vm.list(keys))
}

fn size_of(vm: &Vm, target: Value, keys: Value) -> usize {
    let walked = if keys.is_nil() { target } else { keys };
    match walked.as_handle().map(|handle| vm.heap.object(handle).data()) {
        Some(Data::List(values, start)) => values.len() - *start as usize,
        Some(Data::Sequence(sequence)) => sequence.len(),
        _ => 0,
    }
}

pub fn step_foreach(vm: &mut Vm, result: Value) -> Outcome {
    let Frame { message, locals, target, .. } = *vm.top();
    let index = vm.state(INDEX).as_number().unwrap_or(0.0);
    let (backwards, keys) = (vm.state(BACKWARDS).is_true(), vm.state(KEYS));
    let index = if backwards { index - 1.0 } else { index };
    if index < 0.0 || index as usize >= size_of(vm, target, keys) {
        return Ok(result.or_nil());
    }
    vm.charge(1)?;
    vm.set_state(INDEX, Value::number(if backwards { index } else { index + 1.0 }));
    let of_slots = vm.state(BACKWARDS).is_nil();
    let (key, value) = element(vm, target, keys, index as usize, of_slots);
    // None is left if the message was changed while it ran.
    if message::argument_count(&vm.heap, message) <= 1 {
        let Some(body) = message::argument(&vm.heap, message, 0) else { return Ok(Value::NIL) };
        vm.push_chain(body, value, locals);
        return Err(Signal::Entered);
    }
    bind(vm, message, vm.handle_of(locals), key, value);
    let last = message::argument_count(&vm.heap, message).min(3) - 1;
    vm.enter_argument(last)
}

/// Sets the slots that the message names for index and value.
fn bind(vm: &mut Vm, message: Handle, locals: Handle, key: Value, value: Value) {
    let names = message::argument_count(&vm.heap, message).min(3) - 1;
    let values = [key, value];
    for index in 0..names {
        if let Some(name) = message::argument(&vm.heap, message, index) {
            let name = message::name(&vm.heap, name);
            vm.put_slot(locals, name, values[2 - names + index]);
        }
    }
}

fn element(vm: &mut Vm, target: Value, keys: Value, index: usize, of_slots: bool) -> (Value, Value) {
    let handle = vm.handle_of(target);
    if let Some(keys) = keys.as_handle().filter(|_| !keys.is_nil()) {
        let key = vm.heap.list(keys).map_or(Value::NIL, |keys| keys[index]);
        let name = vm.handle_of(key);
        let value = match of_slots {
            true => vm.heap.own_slot(handle, name),
            false => vm.heap.map(handle).and_then(|map| map.get(&name)).copied(),
        };
        return (key, value.unwrap_or(Value::NIL));
    }
    let value = match vm.heap.object(handle).data() {
        Data::List(values, start) => values[*start as usize + index],
        Data::Sequence(sequence) => sequence.at(index).map_or(Value::NIL, Value::number),
        _ => Value::NIL,
    };
    (Value::number(index as f64), value)
}

/// Sequences iterate as lists do.
pub fn begin_foreach_item(vm: &mut Vm, args: Args) -> Outcome {
    begin_foreach(vm, args, false)
}
