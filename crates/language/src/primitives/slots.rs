//! Slots and protos: how a program reads and writes objects.

use super::{ALL, Args, LAZY, NONE, ONE, Role, Row, TWO, refuse};
use crate::machine::scopes::Scopes;
use crate::message;
use crate::problem;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Symbol, Value, flag};

pub const TABLE: &[Row] = &[
    ("setSlot", TWO, set_slot),
    ("setSlotWithType", TWO, set_slot_with_type),
    ("updateSlot", TWO, update_slot),
    ("newSlot", TWO, new_slot),
    ("getSlot", ONE, get_slot),
    ("getLocalSlot", ONE, get_local_slot),
    ("hasLocalSlot", ONE, has_local_slot),
    ("removeSlot", ONE, remove_slot),
    ("removeAllSlots", NONE, remove_all_slots),
    ("slotNames", NONE, slot_names),
    ("slotNamesOfKind", ONE, slot_names_of_kind),
    ("slotValues", NONE, slot_values),
    ("perform", ALL, perform),
    ("performWithArgList", TWO, perform_with_arg_list),
    ("contextWithSlot", ONE, |vm, args| holder_of(vm, &args, true)),
    ("ancestorWithSlot", ONE, |vm, args| holder_of(vm, &args, false)),
    ("hasProto", ONE, has_proto),
    ("protos", NONE, protos),
    ("proto", NONE, proto),
    ("setProto", ONE, set_proto),
    ("setProtos", ONE, set_protos),
    ("appendProto", ONE, |vm, args| insert_proto(vm, &args, false)),
    ("prependProto", ONE, |vm, args| insert_proto(vm, &args, true)),
    ("removeProto", ONE, remove_proto),
    ("removeAllProtos", NONE, |vm, args| {
        let handle = owner(vm, &args)?;
        vm.change_protos(handle, Vec::new());
        Ok(args.target)
    }),
    ("setIsActivatable", ONE, |vm, args| {
        let on = args.value(vm, 0).is_true();
        let handle = owner(vm, &args)?;
        vm.set_activatable(handle, on);
        Ok(args.target)
    }),
    ("isActivatable", NONE, |vm, args| {
        Ok(Value::boolean(args.target.as_handle().is_some_and(|handle| vm.heap.object(handle).has(flag::ACTIVATABLE))))
    }),
    ("foreachSlot", LAZY, super::iterate::begin_foreach_slot),
    ("thisLocalContext", LAZY, |_, args| Ok(args.locals)),
];

/// What Locals do differently: they hand on to their `self`.
pub const LOCALS_TABLE: &[Row] = &[("updateSlot", TWO, update_local_slot), ("forward", LAZY, forward_to_self)];

/// Slots or protos that are copied for the fuel of the message.
const ITEMS_FOR_ONE: usize = 16;

/// The receiver as an object that can have slots of its own.
fn owner(vm: &mut Vm, args: &Args) -> Result<Handle, Signal> {
    match args.target.as_handle() {
        Some(handle) if !vm.heap.object(handle).has(flag::SYMBOL) => Ok(handle),
        Some(_) => Err(refuse(vm, args, "cannot give an immutable Sequence slots of its own; use asMutable first")),
        None => {
            let name = args.name(vm);
            let text = format!("'{name}' cannot give a plain Number slots of its own; clone Number first");
            Err(vm.raise_problem(text, problem::NO_SLOTS, &name))
        }
    }
}

fn set_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let value = args.value(vm, 1);
    let handle = owner(vm, &args)?;
    vm.put_slot(handle, name, value);
    Ok(value)
}

/// As setSlot; an object that gets a capitalised name for the first time has that name as its type.
fn set_slot_with_type(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let value = set_slot(vm, args)?;
    let type_ = vm.names.type_;
    if let Some(handle) = value.as_handle()
        && !vm.heap.object(handle).has(flag::SYMBOL)
        && vm.heap.own_slot_index(handle, type_).is_none()
    {
        vm.put_slot(handle, type_, Value::object(name));
    }
    Ok(value)
}

/// Sets the slot, and another with a method that sets it: `setName(value)` answers its receiver.
fn new_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.text(vm, 0)?;
    let value = set_slot(vm, args)?;
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let setter_name: String = "set".chars().chain(first).chain(letters).collect();
    let quoted = crate::syntax::quote(&name);
    let label = vm.names.label_none;
    let body = vm.parse_message(&format!("self setSlot({quoted}, getSlot(\"newValue\")); self"), label)?;
    let argument = vm.heap.intern("newValue");
    let setter = vm.new_method(body, &[argument]);
    let (handle, setter_name) = (owner(vm, &args)?, vm.heap.intern(&setter_name));
    vm.put_slot(handle, setter_name, setter);
    Ok(value)
}

fn update_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let value = args.value(vm, 1);
    let handle = owner(vm, &args)?;
    let (place, steps) = vm.heap.find_counted(handle, name);
    vm.charge_steps(steps)?;
    if place.is_none() {
        let text = vm.heap.symbol_text(name);
        let text = format!("Slot {text} not found. Must define slot using := operator before updating.");
        return Err(vm.raise_with(text, &[("missingSlot", Value::object(name))]));
    }
    vm.put_slot(handle, name, value);
    Ok(value)
}

/// Locals update their own slot, else the one of what they stand for.
fn update_local_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let mut args = args.reified()?;
    let mut scopes = Scopes::from(args.target);
    let mut looked_at = 0u32;
    while let Some(handle) = scopes.here.as_handle().filter(|&handle| acts_as_locals(vm, handle)) {
        args.target = scopes.here;
        let (place, steps) = vm.heap.find_counted(handle, name);
        looked_at = looked_at.saturating_add(steps);
        // A slot that is there is set; at the end of the way, the error says that there is none.
        if place.is_some() || !scopes.advance(vm) {
            vm.charge_steps(looked_at)?;
            return update_slot(vm, args);
        }
    }
    args.target = scopes.here;
    vm.charge_steps(looked_at)?;
    // What they stand for may have an updateSlot of its own.
    let (name, value) = (args.value(vm, 0), args.value(vm, 1));
    match vm.look_up_paid(args.target, vm.names.update_slot)? {
        Some(found) if found.value != own_update_slot(vm) => {
            let update = vm.names.update_slot;
            vm.send_values(args.target, update, &[name, value], args.locals)
        }
        _ => update_slot(vm, args),
    }
}

/// Locals, and what inherits from them: the context that `select` and its like evaluate their message in.
fn acts_as_locals(vm: &mut Vm, handle: Handle) -> bool {
    if vm.heap.kind(handle) == Kind::Locals {
        return true;
    }
    let update_slot = vm.names.update_slot;
    let meant = vm.heap.get_slot(handle, update_slot);
    meant.is_some() && meant == vm.heap.own_slot(vm.protos.locals, update_slot)
}

fn own_update_slot(vm: &Vm) -> Value {
    vm.heap.own_slot(vm.protos.object, vm.names.update_slot).unwrap_or(Value::NIL)
}

/// The message goes to the object in the own slot `self`, or on from there if that would only hand it on, too.
fn forward_to_self(vm: &mut Vm, args: Args) -> Outcome {
    let (name, forward) = (message::name(&vm.heap, args.message), vm.names.forward);
    let mut scopes = Scopes::from(args.target);
    while scopes.advance(vm) {
        vm.charge(1)?;
        let target = scopes.here;
        let found = match vm.look_up_paid(target, name)? {
            Some(found) => Some(found),
            None => vm.look_up_paid(target, forward)?,
        };
        let Some(found) = found else { break };
        let callee = found.value.as_handle();
        if !callee.is_some_and(|callee| matches!(vm.role_of(callee), Role::HandsOn)) {
            return vm.use_found(found, args.message, args.locals);
        }
    }
    Err(vm.raise_not_found(args.message, scopes.here))
}

fn get_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    Ok(vm.look_up_paid(args.target, name)?.map_or(Value::NIL, |found| found.value))
}

fn get_local_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let handle = vm.handle_of(args.target);
    Ok(vm.heap.own_slot(handle, name).unwrap_or(Value::NIL))
}

fn has_local_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    // A plain number has no slots of its own; Number has.
    Ok(Value::boolean(args.target.as_handle().is_some_and(|handle| vm.heap.own_slot_index(handle, name).is_some())))
}

fn remove_slot(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let handle = owner(vm, &args)?;
    vm.charge(own_count(vm, handle) / ITEMS_FOR_ONE)?;
    vm.drop_slot(handle, name);
    Ok(args.target)
}

fn remove_all_slots(vm: &mut Vm, args: Args) -> Outcome {
    let handle = owner(vm, &args)?;
    let names = own_names(vm, handle);
    vm.charge(names.len())?;
    for name in names.into_iter().rev() {
        vm.drop_slot(handle, name);
    }
    Ok(args.target)
}

pub(super) fn own_names(vm: &Vm, handle: Handle) -> Vec<Symbol> {
    vm.heap.own_names(handle).to_vec()
}

fn own_count(vm: &Vm, handle: Handle) -> usize {
    vm.heap.own_names(handle).len()
}

fn slot_names(vm: &mut Vm, args: Args) -> Outcome {
    let names = args.target.as_handle().map(|handle| own_names(vm, handle)).unwrap_or_default();
    vm.charge(names.len())?;
    Ok(vm.list(names.into_iter().map(Value::object)))
}

/// Who asks this is asked again only when an object comes or goes, not when a number or a list changes.
fn slot_names_of_kind(vm: &mut Vm, args: Args) -> Outcome {
    let handle = vm.handle_of(args.target);
    let proto = args.value(vm, 0);
    let proto = vm.handle_of(proto);
    let held = vm.heap.slots_with_objects(handle);
    vm.charge(held.len())?;
    let mut names = Vec::new();
    for (name, held) in held {
        let (is_of_kind, steps) = vm.heap.is_kind_of_counted(held, proto);
        vm.charge_steps(steps)?;
        if is_of_kind {
            names.push(Value::object(name));
        }
    }
    Ok(vm.list(names))
}

fn slot_values(vm: &mut Vm, args: Args) -> Outcome {
    let handle = vm.handle_of(args.target);
    let names = own_names(vm, handle);
    vm.charge(names.len())?;
    let values: Vec<Value> = names.into_iter().filter_map(|name| vm.heap.own_slot(handle, name)).collect();
    Ok(vm.list(values))
}

fn perform(vm: &mut Vm, args: Args) -> Outcome {
    if let Some(handle) = args.value(vm, 0).as_handle()
        && vm.heap.kind(handle) == Kind::Message
        && args.count > 0
    {
        vm.push_chain(handle, args.target, args.sender()?);
        return Err(Signal::Entered);
    }
    let name = args.symbol(vm, 0)?;
    let values: Vec<Value> = args.values(vm).iter().skip(1).copied().collect();
    vm.send_values(args.target, name, &values, args.sender()?)
}

fn perform_with_arg_list(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let list = args.of_kind(vm, 1, Kind::List)?;
    let values: Vec<Value> = vm.heap.list(list).unwrap_or_default().to_vec();
    vm.send_values(args.target, name, &values, args.sender()?)
}

/// The object whose slot is found, the receiver itself included or not.
fn holder_of(vm: &mut Vm, args: &Args, itself: bool) -> Outcome {
    let name = args.symbol(vm, 0)?;
    let handle = vm.handle_of(args.target);
    let lineage = vm.heap.lineage(handle);
    vm.charge(lineage.len())?;
    let found = lineage.into_iter().skip(!itself as usize).find(|&each| vm.heap.own_slot_index(each, name).is_some());
    Ok(found.map_or(Value::NIL, Value::object))
}

fn has_proto(vm: &mut Vm, args: Args) -> Outcome {
    let handle = vm.handle_of(args.target);
    let proto = args.value(vm, 0);
    let answer = match proto.as_handle() {
        Some(proto) => {
            let (answer, steps) = vm.heap.is_kind_of_counted(handle, proto);
            vm.charge_steps(steps)?;
            answer
        }
        None => proto == args.target,
    };
    Ok(Value::boolean(answer))
}

fn protos(vm: &mut Vm, args: Args) -> Outcome {
    let protos: Vec<Value> = match args.target.as_handle() {
        Some(handle) => vm.heap.protos(handle).iter().map(|&proto| Value::object(proto)).collect(),
        None => vec![Value::object(vm.protos.number)],
    };
    Ok(vm.list(protos))
}

fn proto(vm: &mut Vm, args: Args) -> Outcome {
    Ok(match args.target.as_handle() {
        Some(handle) => vm.heap.protos(handle).first().map_or(Value::NIL, |&proto| Value::object(proto)),
        None => Value::object(vm.protos.number),
    })
}

fn set_proto(vm: &mut Vm, args: Args) -> Outcome {
    let proto = args.required(vm, 0)?;
    let proto = vm.handle_of(proto);
    let handle = owner(vm, &args)?;
    vm.change_protos(handle, vec![proto]);
    Ok(args.target)
}

fn set_protos(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let handle = owner(vm, &args)?;
    let count = vm.heap.list(list).unwrap_or_default().len();
    vm.charge(count / ITEMS_FOR_ONE)?;
    let protos = vm.heap.list(list).unwrap_or_default().iter().map(|&value| vm.handle_of(value)).collect();
    vm.change_protos(handle, protos);
    Ok(args.target)
}

fn insert_proto(vm: &mut Vm, args: &Args, first: bool) -> Outcome {
    let proto = args.required(vm, 0)?;
    let proto = vm.handle_of(proto);
    let handle = owner(vm, args)?;
    vm.charge(vm.heap.protos(handle).len() / ITEMS_FOR_ONE)?;
    let mut protos = vm.heap.protos(handle).to_vec();
    protos.insert(if first { 0 } else { protos.len() }, proto);
    vm.change_protos(handle, protos);
    Ok(args.target)
}

fn remove_proto(vm: &mut Vm, args: Args) -> Outcome {
    let proto = args.required(vm, 0)?;
    let proto = vm.handle_of(proto);
    let handle = owner(vm, &args)?;
    vm.charge(vm.heap.protos(handle).len() / ITEMS_FOR_ONE)?;
    let protos = vm.heap.protos(handle).iter().copied().filter(|&each| each != proto).collect();
    vm.change_protos(handle, protos);
    Ok(args.target)
}

impl Vm {
    pub(crate) fn change_protos(&mut self, handle: Handle, protos: Vec<Handle>) {
        if self.has_built_ins(handle) {
            self.discard_all_units();
        }
        self.heap.set_protos(handle, protos);
    }

    pub(crate) fn drop_slot(&mut self, handle: Handle, name: Symbol) {
        if self.has_meaning(handle, name) {
            self.meaning_changing(handle, name);
        }
        self.heap.remove_slot(handle, name);
    }
}
