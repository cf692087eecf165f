//! Call: who sent what to whom, as an object.

use super::{Args, NONE, ONE, Row};
use crate::block::call as field;
use crate::message as messages;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("sender", NONE, |vm, args| sender(vm, &args)),
    ("target", NONE, |vm, args| read_or_sender(vm, &args, field::TARGET)),
    ("message", NONE, |vm, args| read(vm, &args, field::MESSAGE)),
    ("slotContext", NONE, |vm, args| read_or_sender(vm, &args, field::SLOT_CONTEXT)),
    ("activated", NONE, |vm, args| read(vm, &args, field::ACTIVATED)),
    ("coroutine", NONE, |vm, args| read(vm, &args, field::COROUTINE)),
    ("stopStatus", NONE, |vm, args| read(vm, &args, field::STOP_STATUS)),
    ("setStopStatus", ONE, |vm, args| {
        let call = args.receiver(vm, Kind::Call)?;
        let status = args.value(vm, 0);
        vm.heap.record_set(call, field::STOP_STATUS, status);
        Ok(args.target)
    }),
    ("argAt", ONE, |vm, args| {
        let index = args.integer(vm, 0)?;
        let message = message_of(vm, &args)?;
        let argument = usize::try_from(index).ok().and_then(|index| messages::argument(&vm.heap, message, index));
        Ok(argument.map_or(Value::NIL, Value::object))
    }),
    ("evalArgAt", ONE, |vm, args| {
        let index = args.integer(vm, 0)?;
        let message = message_of(vm, &args)?;
        let sender = sender(vm, &args)?;
        let argument = usize::try_from(index).ok().and_then(|index| messages::argument(&vm.heap, message, index));
        match argument {
            Some(argument) => {
                vm.push_evaluation(argument, sender, sender);
                Err(Signal::Entered)
            }
            None => Ok(Value::NIL),
        }
    }),
    ("argCount", NONE, |vm, args| {
        let message = message_of(vm, &args)?;
        Ok(Value::number(messages::argument_count(&vm.heap, message) as f64))
    }),
];

fn read(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let call = args.receiver(vm, Kind::Call)?;
    Ok(vm.heap.record(call)[index])
}

/// A block that code called has its sender for its target and for the object that its slot was found in.
fn read_or_sender(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    match read(vm, args, index)? {
        value if value.is_absent() => sender(vm, args),
        value => Ok(value),
    }
}

/// Found only now if the call was made for a frame that ran as code.
fn sender(vm: &mut Vm, args: &Args) -> Outcome {
    let sender = read(vm, args, field::SENDER)?;
    if !sender.is_absent() {
        return Ok(sender);
    }
    let call = args.receiver(vm, Kind::Call)?;
    Ok(vm.find_sender(call))
}

fn message_of(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    let message = read(vm, args, field::MESSAGE)?;
    Ok(message.as_handle().unwrap_or(vm.protos.message))
}
