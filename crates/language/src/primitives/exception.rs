//! Exception: how one sets out. Owns raising from Io; the way out is the machine's.

use super::{Args, NONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::Kind;

pub const TABLE: &[Row] = &[
    ("rawRaise", NONE, raise),
    ("leaveUnhandled", NONE, |vm, args| {
        vm.leave_unhandled(args.target);
        Ok(args.target)
    }),
    ("markHandled", NONE, |vm, args| {
        vm.handled(args.target);
        Ok(args.target)
    }),
];

/// Notes where it happened, unless the exception is only passed on.
fn raise(vm: &mut Vm, args: Args) -> Outcome {
    let exception = args.receiver(vm, Kind::Object)?;
    vm.handled(args.target);
    let first_time = vm.heap.own_slot(exception, vm.names.stack_messages).is_none_or(|messages| messages.is_nil());
    Err(if first_time { vm.raise_object(exception) } else { Signal::Raise(args.target) })
}
