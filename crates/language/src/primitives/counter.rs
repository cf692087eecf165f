//! Counter: a whole number that is only added to. What two sides add to one meanwhile adds up, where a slot with a number would hold
//! what one of them wrote.

use super::{Args, NONE, ONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

/// Beyond it a number has no room for each whole one.
const VALUE_MAX: f64 = 9_007_199_254_740_992.0;

pub const TABLE: &[Row] = &[
    ("add", ONE, |vm, args| {
        let count = args.optional_number(vm, 0)?.unwrap_or(1.0);
        add(vm, &args, count)
    }),
    ("subtract", ONE, |vm, args| {
        let count = args.optional_number(vm, 0)?.unwrap_or(1.0);
        add(vm, &args, -count)
    }),
    ("value", NONE, |vm, args| own(vm, &args).map(|(_, value)| Value::number(value))),
    ("asNumber", NONE, |vm, args| own(vm, &args).map(|(_, value)| Value::number(value))),
    ("asString", NONE, |vm, args| {
        let (_, value) = own(vm, &args)?;
        Ok(vm.symbol(&object::number_text::format_number(value)))
    }),
];

/// Makes the prototype.
pub fn install(vm: &mut Vm) {
    let Some(counter) = vm.prototype("Counter").as_handle() else { return };
    vm.heap.set_data(counter, Kind::Counter, Data::Number(0.0));
}

fn own(vm: &mut Vm, args: &Args) -> Result<(Handle, f64), Signal> {
    let counter = args.receiver(vm, Kind::Counter)?;
    let value = if let Data::Number(value) = vm.heap.object(counter).data() { *value } else { 0.0 };
    Ok((counter, value))
}

fn add(vm: &mut Vm, args: &Args, count: f64) -> Outcome {
    let (counter, value) = own(vm, args)?;
    let sum = value + count;
    if count.fract() != 0.0 || sum.abs() > VALUE_MAX {
        let why = if count.fract() != 0.0 { "whole numbers are added" } else { "it would be too large" };
        return Err(vm.raise(format!("a Counter is not added to: {why}")));
    }
    vm.heap.set_data(counter, Kind::Counter, Data::Number(sum));
    Ok(args.target)
}
