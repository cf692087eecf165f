//! Importer: what becomes of a name that nobody knows. The library looks for the file of a prototype; whether it is asked
//! at all is decided here, so that an unknown name stays an error in a machine whose library was taken apart.

use super::{Args, LAZY, ONE, Row};
use crate::library;
use crate::machine::frame::{Frame, Kind as FrameKind, Native};
use crate::message;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Symbol, Value};

pub const TABLE: &[Row] = &[
    ("autoImportingForward", LAZY, forward),
    ("librarySource", ONE, |vm, args| {
        let name = args.text(vm, 0)?;
        Ok(library::late(&name).map_or(Value::NIL, |source| vm.symbol(source)))
    }),
];

/// A name may be asked for while it is being imported: another directory may have the file. But not for ever.
const NESTED_IMPORTS_MAX: usize = 8;

fn forward(vm: &mut Vm, args: Args) -> Outcome {
    let args = args.reified()?;
    let name = message::name(&vm.heap, args.message);
    let (asked, import) = (vm.heap.intern("Importer"), vm.heap.intern("import"));
    let importer = vm.heap.own_slot(vm.protos.core, asked).filter(|&importer| vm.look_up(importer, import).is_some());
    let is_prototype = vm.heap.symbol_text(name).chars().next().is_some_and(char::is_uppercase);
    let call = Value::object(vm.new_call(args.activation(vm.protos.block), args.locals));
    match importer {
        Some(importer) if is_prototype && imports_under_way(vm, name) < NESTED_IMPORTS_MAX => {
            vm.push_native(Native::Import, &args);
            vm.stack.values.push(call);
            vm.send_values(importer, import, &[call], args.locals)
        }
        _ => Err(unknown(vm, args.message, args.target, call)),
    }
}

/// What was imported; nothing means that nobody knows the name.
pub fn step_import(vm: &mut Vm, imported: Value) -> Outcome {
    if !imported.is_nil() {
        return Ok(imported);
    }
    let (Frame { message, target, .. }, call) = (*vm.top(), vm.state(0));
    Err(unknown(vm, message, target, call))
}

fn unknown(vm: &mut Vm, message: Handle, target: Value, call: Value) -> Signal {
    let signal = vm.raise_not_found(message, target);
    if let Signal::Raise(exception) = signal {
        vm.set_slot(exception, "originalCall", call);
    }
    signal
}

fn imports_under_way(vm: &Vm, name: Symbol) -> usize {
    let is_import = |kind| kind == FrameKind::Native(Native::Import);
    let frames = vm.stack.frames.iter().filter(|frame| is_import(frame.kind));
    frames.filter(|frame| message::name(&vm.heap, frame.message) == name).count()
}
