//! Object: cloning, comparison, printing, identity.

use super::{ALL, Args, LAZY, NONE, ONE, Row};
use crate::machine::frame::{Native, Phase, Suspended};
use crate::message as messages;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::ItemType;
use object::{Data, Handle, Kind, Value};
use std::cmp::Ordering;

pub const TABLE: &[Row] = &[
    ("clone", NONE, clone),
    ("cloneWithoutInit", NONE, |vm, args| vm.raw_clone(args.target)),
    ("shallowCopy", NONE, shallow_copy),
    ("init", LAZY, |_, args| Ok(args.target)),
    ("thisContext", LAZY, |_, args| Ok(args.target)),
    ("type", LAZY, |vm, args| {
        let name = vm.type_name(args.target);
        Ok(vm.symbol(&name))
    }),
    ("write", ALL, |vm, args| write(vm, args, false)),
    ("writeln", ALL, |vm, args| write(vm, args, true)),
    ("compare", ONE, |vm, args| {
        let other = args.required(vm, 0)?;
        vm.compare(args.target, other).map(|ordering| Value::number(ordering as i8 as f64))
    }),
    ("==", ONE, |vm, args| is_equal(vm, args).map(Value::boolean)),
    ("!=", ONE, |vm, args| is_equal(vm, args).map(|is_equal| Value::boolean(!is_equal))),
    ("<", ONE, |vm, args| compare(vm, args, Ordering::is_lt)),
    (">", ONE, |vm, args| compare(vm, args, Ordering::is_gt)),
    ("<=", ONE, |vm, args| compare(vm, args, Ordering::is_le)),
    (">=", ONE, |vm, args| compare(vm, args, Ordering::is_ge)),
    ("isIdenticalTo", ONE, |vm, args| Ok(Value::boolean(args.target == args.value(vm, 0)))),
    ("asBoolean", LAZY, |_, args| Ok(Value::boolean(args.target.is_true()))),
    ("-", ONE, |vm, args| {
        // The minus of `-5` is sent to whatever stands before it, which is nobody.
        args.number(vm, 0).map(|number| Value::number(-number))
    }),
    ("uniqueId", NONE, |vm, args| {
        Ok(match args.target.as_handle() {
            Some(handle) => {
                // Where it lies hangs on all that was loaded before it.
                vm.heap.note_host();
                Value::number(vm.place_of(handle) as f64)
            }
            None => args.target,
        })
    }),
    ("block", LAZY, |vm, args| new_block(vm, &args, true)),
    ("method", LAZY, |vm, args| new_block(vm, &args, false)),
    ("list", ALL, |vm, args| {
        let values = args.values(vm).to_vec();
        Ok(vm.list(values))
    }),
    ("become", ONE, become_other),
    ("memorySize", NONE, |vm, args| {
        let Some(handle) = args.target.as_handle() else { return Ok(Value::number(8.0)) };
        // Slots weigh, so who asks has counted them.
        vm.heap.own_names(handle);
        Ok(Value::number(vm.heap.object(handle).logical_bytes() as f64))
    }),
    ("argIsCall", ONE, |vm, args| Ok(Value::boolean(vm.kind_of(args.value(vm, 0)) == Kind::Call))),
    ("argIsActivationRecord", ONE, |vm, args| Ok(Value::boolean(vm.kind_of(args.value(vm, 0)) == Kind::Locals))),
    ("ownsSlots", NONE, |vm, args| {
        let handle = vm.handle_of(args.target);
        Ok(Value::boolean(!super::slots::own_names(vm, handle).is_empty()))
    }),
];

fn compare(vm: &mut Vm, args: Args, holds: fn(Ordering) -> bool) -> Outcome {
    let other = args.required(vm, 0)?;
    vm.compare(args.target, other).map(|ordering| Value::boolean(holds(ordering)))
}

fn is_equal(vm: &mut Vm, args: Args) -> Result<bool, Signal> {
    let other = args.required(vm, 0)?;
    vm.is_equal(args.target, other)
}

impl Vm {
    /// A clone before its `init` is sent.
    pub(crate) fn raw_clone(&mut self, value: Value) -> Outcome {
        let Some(proto) = value.as_handle() else { return Ok(value) };
        let object = self.heap.object(proto);
        // What cannot change is its own clone.
        if object.has(object::flag::SYMBOL) {
            return Ok(value);
        }
        let kind = object.kind();
        let data = match object.data() {
            Data::Weak(_) => return Ok(Value::object(self.heap.allocate_weak(proto, Value::NIL))),
            data => data.copied(),
        };
        match &data {
            Data::None => {}
            data => {
                let bytes = data.logical_bytes();
                self.reserve(bytes)?;
            }
        }
        let activatable = self.heap.object(proto).has(object::flag::ACTIVATABLE);
        let clone = match kind {
            Kind::Coroutine => self.heap.allocate_foreign(proto, kind, Suspended::default()),
            Kind::Message => messages::deep_copy(&mut self.heap, proto, proto),
            // A clone of one activation's locals is an ordinary object that happens to inherit from them.
            Kind::Locals => self.heap.clone_of(proto, Kind::Object, data),
            _ => self.heap.clone_of(proto, kind, data),
        };
        if activatable {
            self.set_activatable(clone, true);
        }
        Ok(Value::object(clone))
    }

    /// The order of two values, asking neither. Numbers, sequences, lists, dates and durations compare by what they hold.
    pub(crate) fn compare(&mut self, left: Value, right: Value) -> Result<Ordering, Signal> {
        if left == right {
            return Ok(Ordering::Equal);
        }
        if let (Some(left), Some(right)) = (self.number_of(left), self.number_of(right)) {
            return Ok(left.partial_cmp(&right).unwrap_or(Ordering::Less));
        }
        if let (Some(left), Some(right)) = (self.sequence_of(left), self.sequence_of(right)) {
            let (ordering, bytes) = (left.compare(right), left.size_in_bytes().min(right.size_in_bytes()));
            super::sequence::pay(self, bytes)?;
            return Ok(ordering);
        }
        if self.kind_of(left) == Kind::List && self.kind_of(right) == Kind::List {
            return super::list::compare_lists(self, left, right);
        }
        for seconds in [Vm::date_seconds, super::duration::seconds_of] {
            if let (Some(left), Some(right)) = (seconds(self, left), seconds(self, right)) {
                return Ok(left.total_cmp(&right));
            }
        }
        // Unlike kinds have an order too, so that anything can be sorted: by kind, then by place in the heap.
        self.heap.note_host();
        let rank =
            |vm: &Vm, value: Value| (vm.kind_of(value) as u8, value.as_handle().map_or(0, |each| vm.place_of(each)));
        Ok(rank(self, left).cmp(&rank(self, right)))
    }

    /// Whether two values are equal, which unlike their order never hangs on their places in the heap.
    pub(crate) fn is_equal(&mut self, left: Value, right: Value) -> Result<bool, Signal> {
        let asked_host = self.heap.asked_host();
        let is_equal = self.compare(left, right)?.is_eq();
        self.heap.set_asked_host(asked_host);
        Ok(is_equal)
    }
}

/// Clones, then sends `init` if anybody but Object has one.
pub fn clone(vm: &mut Vm, args: Args) -> Outcome {
    let has_init = match vm.look_up_paid(args.target, vm.names.init)? {
        Some(found) => found.holder != vm.protos.object && args.target.as_handle().is_some(),
        None => false,
    };
    if !has_init {
        return vm.raw_clone(args.target);
    }
    let args = args.reified()?;
    let clone = vm.raw_clone(args.target)?;
    vm.push_native(Native::AnswerTarget, &Args { target: clone, ..args });
    let init = vm.bare_message(vm.names.init);
    vm.push_chain(init, clone, args.locals);
    Err(Signal::Entered)
}

fn shallow_copy(vm: &mut Vm, args: Args) -> Outcome {
    let Some(from) = args.target.as_handle() else { return Ok(args.target) };
    let copy = vm.heap.clone_of(vm.protos.object, Kind::Object, Data::None);
    vm.heap.become_copy_of(copy, from);
    Ok(Value::object(copy))
}

fn become_other(vm: &mut Vm, args: Args) -> Outcome {
    let other = args.required(vm, 0)?;
    let Some(handle) = args.target.as_handle() else {
        return Err(vm.raise("a plain Number cannot 'become' anything else"));
    };
    // A number has no place of its own in the heap: what becomes one is an object that holds it.
    let other = match other.as_number() {
        Some(number) => vm.heap.clone_of(vm.protos.number, Kind::Number, Data::Number(number)),
        None => vm.handle_of(other),
    };
    if !is_plain(vm, handle) {
        let type_name = vm.type_name(args.target);
        return Err(vm.raise(format!("the machine relies on this {type_name}: it cannot 'become' anything else")));
    }
    vm.heap.become_copy_of(handle, other);
    Ok(args.target)
}

/// Whether an object is nothing that the machine itself reads or remembers: no symbol, no code, no frame, not nil.
fn is_plain(vm: &Vm, handle: Handle) -> bool {
    let constant = [Value::NIL, Value::TRUE, Value::FALSE].contains(&Value::object(handle));
    let object = vm.heap.object(handle);
    let data = matches!(object.kind(), Kind::Object | Kind::Number | Kind::Sequence | Kind::List | Kind::Map);
    data && !constant && !object.has(object::flag::SYMBOL) && !vm.has_built_ins(handle)
}

fn new_block(vm: &mut Vm, args: &Args, closes_over: bool) -> Outcome {
    let arguments = messages::arguments(&vm.heap, args.message);
    let (body, names): (Value, &[Handle]) = match arguments.split_last() {
        Some((&body, names)) => (Value::object(body), names),
        None => (Value::object(vm.bare_nil()), &[]),
    };
    let scope = if closes_over { args.locals } else { Value::NIL };
    let mut fields: object::ThinVec<Value> = [body, scope, Value::FALSE].into_iter().collect();
    fields.extend(names.iter().map(|&name| Value::object(messages::name(&vm.heap, name))));
    let block = vm.heap.clone_of(vm.protos.block, Kind::Block, Data::Record(fields));
    vm.set_activatable(block, !closes_over);
    Ok(Value::object(block))
}

impl Vm {
    /// A method with this body.
    pub(crate) fn new_method(&mut self, body: Handle, argument_names: &[Handle]) -> Value {
        let mut fields: object::ThinVec<Value> = [Value::object(body), Value::NIL, Value::FALSE].into_iter().collect();
        fields.extend(argument_names.iter().map(|&name| Value::object(name)));
        let block = self.heap.clone_of(self.protos.block, Kind::Block, Data::Record(fields));
        self.set_activatable(block, true);
        Value::object(block)
    }

    /// The message that stands for nil.
    pub(crate) fn bare_nil(&mut self) -> Handle {
        self.literal_named(Value::NIL, self.names.nil)
    }
}

// The state of a write: what is left of the arguments.
fn write(vm: &mut Vm, args: Args, ends_line: bool) -> Outcome {
    let args = args.reified()?;
    let values = args.values(vm).to_vec();
    let end = vm.symbol("\n");
    vm.push_native(Native::Write, &args);
    vm.stack.values.extend(values);
    vm.stack.values.extend(ends_line.then_some(end));
    Err(Signal::Entered)
}

/// Writes argument after argument; those that are no text are asked for one.
pub fn step_write(vm: &mut Vm, text: Value) -> Outcome {
    let base = vm.top().base as usize;
    let Phase::Step(mut index) = vm.top().phase else { return Ok(Value::NIL) };
    if !text.is_absent() {
        write_text(vm, text)?;
        index += 1;
    }
    while base + (index as usize) < vm.stack.values.len() {
        let value = vm.stack.values[base + index as usize];
        if vm.simple_text(value).is_none() {
            vm.top().phase = Phase::Step(index);
            let locals = vm.top().locals;
            let as_string = vm.bare_message(vm.names.as_string);
            vm.push_chain(as_string, value, locals);
            return Err(Signal::Entered);
        }
        write_text(vm, value)?;
        index += 1;
    }
    Ok(Value::NIL)
}

fn write_text(vm: &mut Vm, value: Value) -> Result<(), Signal> {
    let text = match vm.sequence_of(value) {
        Some(sequence) if sequence.item_type() == ItemType::Uint8 && sequence.encoding().is_text() => {
            sequence.as_bytes().to_vec()
        }
        Some(sequence) => sequence.as_utf8().as_bytes().to_vec(),
        None => vm.simple_text(value).unwrap_or_default().into_bytes(),
    };
    vm.charge(text.len() / 16)?;
    vm.host.write(&text);
    Ok(())
}
