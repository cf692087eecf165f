//! `unlessUnderWay`: what is being done with an object and must not be done again inside, for objects may contain
//! themselves. Owned by the stack that does it, so that coroutines do not see each other's.

use super::{Args, LAZY, Row};
use crate::machine::frame::{Frame, Native};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::Value;

pub const TABLE: &[Row] = &[("unlessUnderWay", LAZY, begin)];

/// unlessUnderWay(name, expression, other): the expression, or the other while that name is under way for the receiver.
fn begin(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.argument_name(vm, 0)?;
    let (first, other) = (args.argument(vm, 1)?, args.argument(vm, 2)?);
    let is_first = vm.stack.under_way.insert((vm.handle_of(args.target), name));
    if is_first {
        vm.push_native(Native::UnderWay, &args);
        vm.stack.values.push(Value::object(name));
    }
    vm.push_chain(if is_first { first } else { other }, args.locals, args.locals);
    Err(Signal::Entered)
}

/// A frame that began something ends, in whatever way.
pub(crate) fn end_under_way(vm: &mut Vm, frame: &Frame) {
    if let Some(name) = vm.stack.values[frame.base as usize].as_handle() {
        vm.stack.under_way.remove(&(vm.handle_of(frame.target), name));
    }
}
