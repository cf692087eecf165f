//! Block and CFunction: code as an object.

use super::{ALL, Args, LAZY, NONE, ONE, Primitive, Row};
use crate::block::field;
use crate::machine::evaluate::Found;
use crate::machine::frame::Kind as FrameKind;
use crate::message as messages;
use crate::signal::Outcome;
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("call", LAZY, call),
    ("performOn", ALL, perform_on),
    ("message", NONE, |vm, args| read(vm, &args, field::MESSAGE)),
    ("setMessage", ONE, |vm, args| {
        let message = args.of_kind(vm, 0, Kind::Message)?;
        write(vm, &args, field::MESSAGE, Value::object(message))
    }),
    ("scope", NONE, |vm, args| read(vm, &args, field::SCOPE)),
    ("setScope", ONE, |vm, args| {
        let scope = args.value(vm, 0);
        write(vm, &args, field::SCOPE, scope)
    }),
    ("passStops", NONE, |vm, args| read(vm, &args, field::PASSES_STOPS)),
    ("setPassStops", ONE, |vm, args| {
        let passes = Value::boolean(args.value(vm, 0).is_true());
        write(vm, &args, field::PASSES_STOPS, passes)
    }),
    ("argumentNames", NONE, |vm, args| {
        let block = args.receiver(vm, Kind::Block)?;
        let names = vm.heap.record(block)[field::ARGUMENT_NAMES..].to_vec();
        Ok(vm.list(names))
    }),
    ("setArgumentNames", ONE, set_argument_names),
    ("code", NONE, code),
    ("isAsWritten", NONE, |vm, args| {
        let block = args.receiver(vm, Kind::Block)?;
        let body = vm.heap.record(block)[field::MESSAGE].as_handle();
        Ok(Value::boolean(body.is_none_or(|body| messages::is_as_written(&vm.heap, body))))
    }),
];

pub const PRIMITIVE_TABLE: &[Row] = &[
    ("performOn", ALL, perform_primitive_on),
    ("typeName", NONE, |vm, args| {
        let owner = primitive(vm, args.target).map(|primitive| primitive.owner().to_string());
        Ok(owner.map_or(Value::NIL, |owner| vm.symbol(&owner)))
    }),
    ("uniqueName", NONE, |vm, args| {
        Ok(primitive(vm, args.target).map_or(Value::NIL, |primitive| Value::object(primitive.name)))
    }),
    ("id", NONE, |vm, args| {
        Ok(match args.target.as_handle().map(|handle| vm.heap.object(handle).data()) {
            Some(Data::Primitive(index)) => Value::number(*index as f64),
            _ => Value::NIL,
        })
    }),
];

fn primitive(vm: &Vm, value: Value) -> Option<&Primitive> {
    match vm.heap.object(value.as_handle()?).data() {
        Data::Primitive(index) => vm.primitives.get(*index as usize),
        _ => None,
    }
}

fn read(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let block = args.receiver(vm, Kind::Block)?;
    Ok(vm.heap.record(block)[index])
}

fn write(vm: &mut Vm, args: &Args, index: usize, value: Value) -> Outcome {
    let block = args.receiver(vm, Kind::Block)?;
    vm.heap.record_set(block, index, value);
    // Sites that call it must look again.
    vm.heap.renew_epoch();
    Ok(args.target)
}

fn set_argument_names(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let block = args.receiver(vm, Kind::Block)?;
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    let mut names = Vec::with_capacity(values.len());
    for value in values {
        match vm.symbol_of(value)? {
            Some(name) => names.push(Value::object(name)),
            None => return Err(vm.raise("'setArgumentNames' requires a List of Sequences")),
        }
    }
    vm.heap.record_edit(block, |fields| {
        fields.truncate(field::ARGUMENT_NAMES);
        fields.extend(names);
    });
    // Sites that call it must look again.
    vm.heap.renew_epoch();
    Ok(args.target)
}

fn code(vm: &mut Vm, args: Args) -> Outcome {
    let block = args.receiver(vm, Kind::Block)?;
    let fields = vm.heap.record(block);
    let word = if fields[field::SCOPE].is_nil() { "method(" } else { "block(" };
    let mut text = String::from(word);
    for name in &fields[field::ARGUMENT_NAMES..] {
        text.push_str(&name.as_handle().map(|name| vm.heap.symbol_text(name)).unwrap_or_default());
        text.push_str(", ");
    }
    if let Some(body) = fields[field::MESSAGE].as_handle() {
        text.push_str(&vm.message_code(body)?);
    }
    text.push(')');
    vm.charge(text.len() / 8)?;
    Ok(vm.symbol(&text))
}

/// A call's arguments are evaluated as the block's own would be: the chain that sent `call` gathers them, as if it had
/// found the block in a slot.
fn call(vm: &mut Vm, args: Args) -> Outcome {
    let block = args.receiver(vm, Kind::Block)?;
    let top = vm.top();
    if top.kind == FrameKind::Chain && top.message == args.message && top.locals == args.locals {
        let found = Found { value: args.target, holder: vm.handle_of(args.locals), target: args.locals };
        return vm.use_found_forced(found, block, args.message);
    }
    vm.enter_callee(block, args.message, args.locals, args.locals, vm.handle_of(args.locals))
}

/// performOn(target, locals, message, slotContext)
fn perform_on(vm: &mut Vm, args: Args) -> Outcome {
    let block = args.receiver(vm, Kind::Block)?;
    let target = args.required(vm, 0)?;
    let locals = if args.count > 1 { args.value(vm, 1) } else { args.sender()? };
    let message = if args.count > 2 { args.of_kind(vm, 2, Kind::Message)? } else { args.message };
    let context = if args.count > 3 { args.value(vm, 3) } else { target };
    let context = vm.handle_of(context);
    vm.enter_callee(block, message, target, locals, context)
}

fn perform_primitive_on(vm: &mut Vm, args: Args) -> Outcome {
    let primitive = args.receiver(vm, Kind::Primitive)?;
    let target = args.required(vm, 0)?;
    let locals = if args.count > 1 { args.value(vm, 1) } else { args.sender()? };
    let message = if args.count > 2 { args.of_kind(vm, 2, Kind::Message)? } else { args.message };
    let holder = vm.handle_of(target);
    vm.enter_callee(primitive, message, target, locals, holder)
}

impl Vm {
    /// As if `message` had found `callee` in a slot of `holder`: a chain of one message, about to gather arguments.
    pub(crate) fn enter_callee(
        &mut self,
        callee: Handle,
        message: Handle,
        target: Value,
        locals: Value,
        holder: Handle,
    ) -> Outcome {
        // The message's own next is none of our business: only it is sent.
        let message = self.without_next(message);
        self.push_chain(message, target, locals);
        let found = Found { value: Value::object(callee), holder, target };
        let was_activatable = self.heap.object(callee).has(object::flag::ACTIVATABLE);
        let outcome = if was_activatable {
            self.use_found(found, message, locals)
        } else {
            self.use_found_forced(found, callee, message)
        };
        match outcome {
            // Ended at once: the chain frame is done.
            Ok(value) => self.proceed(value),
            Err(signal) => Err(signal),
        }
    }

    /// The message alone, without what follows it.
    pub(crate) fn without_next(&mut self, message: Handle) -> Handle {
        if messages::next(&self.heap, message).is_none() {
            return message;
        }
        let mut fields: object::ThinVec<Value> = self.heap.record(message).iter().copied().collect();
        fields[messages::field::NEXT] = Value::NIL;
        self.heap.clone_of(self.protos.message, Kind::Message, Data::Record(fields))
    }
}
