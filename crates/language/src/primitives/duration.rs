//! Duration: a length of time, in seconds. Pure arithmetic.

use super::{Args, NONE, ONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

const UNITS_SECONDS: [f64; 4] = [31_536_000.0, 86_400.0, 3_600.0, 60.0];

pub const TABLE: &[Row] = &[
    ("years", NONE, |vm, args| part(vm, &args, 0)),
    ("days", NONE, |vm, args| part(vm, &args, 1)),
    ("hours", NONE, |vm, args| part(vm, &args, 2)),
    ("minutes", NONE, |vm, args| part(vm, &args, 3)),
    ("seconds", NONE, |vm, args| part(vm, &args, 4)),
    ("setYears", ONE, |vm, args| set_part(vm, &args, 0)),
    ("setDays", ONE, |vm, args| set_part(vm, &args, 1)),
    ("setHours", ONE, |vm, args| set_part(vm, &args, 2)),
    ("setMinutes", ONE, |vm, args| set_part(vm, &args, 3)),
    ("setSeconds", ONE, |vm, args| set_part(vm, &args, 4)),
    ("totalSeconds", NONE, |vm, args| own(vm, &args).map(Value::number)),
    ("asNumber", NONE, |vm, args| own(vm, &args).map(Value::number)),
    ("fromNumber", ONE, |vm, args| {
        let seconds = args.number(vm, 0)?;
        set(vm, &args, seconds)
    }),
    ("+=", ONE, |vm, args| {
        let sum = own(vm, &args)? + argument(vm, &args)?;
        set(vm, &args, sum)
    }),
    ("-=", ONE, |vm, args| {
        let difference = own(vm, &args)? - argument(vm, &args)?;
        set(vm, &args, difference)
    }),
    ("asString", ONE, |vm, args| {
        let parts = parts(own(vm, &args)?);
        let format = if args.count > 0 { args.text(vm, 0)? } else { "%Y years %d days %H:%M:%S".to_string() };
        super::date::check_format(vm, &format)?;
        Ok(vm.symbol(&text(&format, parts)))
    }),
];

/// Makes the prototype.
pub fn install(vm: &mut Vm) {
    let Some(duration) = vm.prototype("Duration").as_handle() else { return };
    vm.heap.set_data(duration, Kind::Object, data(0.0));
}

fn data(seconds: f64) -> Data {
    Data::Record([Value::number(seconds)].into_iter().collect())
}

/// A new Duration.
pub fn new(vm: &mut Vm, seconds: f64) -> Value {
    let proto = vm.prototype("Duration");
    let proto = vm.handle_of(proto);
    Value::object(vm.heap.clone_of(proto, Kind::Object, data(seconds)))
}

/// The seconds of a value that is a Duration.
pub fn seconds_of(vm: &Vm, value: Value) -> Option<f64> {
    match vm.heap.object(value.as_handle()?).data() {
        Data::Record(fields) if fields.len() == 1 => fields[0].as_number(),
        _ => None,
    }
}

fn own(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match seconds_of(vm, args.target) {
        Some(seconds) => Ok(seconds),
        None => Err(super::refuse(vm, args, "was sent to something that is no Duration")),
    }
}

fn argument(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match seconds_of(vm, args.value(vm, 0)) {
        Some(seconds) => Ok(seconds),
        None => Err(args.wrong(vm, 0, "Duration")),
    }
}

fn set(vm: &mut Vm, args: &Args, seconds: f64) -> Outcome {
    own(vm, args)?;
    let handle: Handle = vm.handle_of(args.target);
    vm.heap.record_set(handle, 0, Value::number(seconds));
    Ok(args.target)
}

/// Years of 365 days, days, hours, minutes; what is left is seconds.
fn parts(seconds: f64) -> [f64; 5] {
    let mut left = seconds;
    let mut parts = [0.0; 5];
    for (part, unit) in parts.iter_mut().zip(UNITS_SECONDS) {
        *part = (left / unit).trunc();
        left -= *part * unit;
    }
    parts[4] = left;
    parts
}

fn part(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    own(vm, args).map(|seconds| Value::number(parts(seconds)[index]))
}

fn set_part(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let mut parts = parts(own(vm, args)?);
    parts[index] = args.number(vm, 0)?;
    let units = UNITS_SECONDS.into_iter().chain([1.0]);
    let seconds = parts.iter().zip(units).map(|(part, unit)| part * unit).sum();
    set(vm, args, seconds)
}

fn text(format: &str, [years, days, hours, minutes, seconds]: [f64; 5]) -> String {
    format
        .replace("%Y", &format!("{years}"))
        .replace("%y", &format!("{years:04}"))
        .replace("%d", &format!("{days:02}"))
        .replace("%H", &format!("{hours:02}"))
        .replace("%M", &format!("{minutes:02}"))
        .replace("%S", &format!("{seconds:.6}"))
}
