//! The loop that executes instructions. What it cannot do with registers and slots alone it hands out as an `Exit`.
//!
//! Long functions: execute (a dispatch; its arms are short)
//!
//! Long because the loop is one function: its registers and fuel stay in machine registers only within it.

use super::Unit;
use super::instruction::Op;
use super::site::{Callee, Known};
use crate::machine::evaluate::is_long_way;
use crate::machine::frame::{Frame, Kind, Phase};
use crate::primitives::modulo;
use crate::primitives::quick::Bench;
use crate::vm::Vm;
use object::{Kind as ObjectKind, Value, flag};

/// Why the loop stopped. The frame's step is behind the instruction that was taken.
#[derive(Clone, Copy)]
pub(super) enum Exit {
    /// The slice is used up, and the instruction that is next would pay: it was not taken.
    #[cfg_attr(feature = "no_fuel", allow(dead_code, reason = "nothing is paid"))]
    Fuel,
    /// Time for a collection, or for a look at the memory limit.
    Safepoint,
    /// The answer of the lowest code frame, which is gone.
    Return(Value),
    /// A value was not what the code assumed; the message is remembered as surprising.
    Surprise,
    /// Something that only the tree can do.
    Leave,
    /// A send that the site does not answer yet.
    Send,
    Find,
    Call,
    /// What the site knows is no code: a primitive, or a block that runs as a tree.
    Invoke,
    Write,
    Update,
    Bind,
    Guard,
    /// Deeper than the memory limit was last looked at, or than calls may nest.
    Deep,
}

impl Vm {
    /// Executes code frames until something is to be done that needs more than registers and slots.
    pub(super) fn execute(&mut self) -> Exit {
        let (number_proto, list_proto) = (self.protos.number, self.protos.list);
        let depth_limit = self.limits.depth.min(self.stack.look_at_depth);
        let memory_limit = self.limits.memory_bytes.map_or(usize::MAX, |bytes| bytes as usize);
        let Vm { heap, stack, tank, units, names, protos, .. } = self;
        #[cfg_attr(feature = "no_fuel", allow(unused_mut, reason = "nothing is paid"))]
        let mut fuel = tank.slice;
        let frame = stack.frames.last().expect("a running machine has a frame");
        let Phase::Step(place) = frame.phase else { unreachable!("a code frame is at a step") };
        // The frame on top: where its registers begin, its code, and what of that is still to come.
        let mut base = frame.base as usize;
        let mut unit: &Unit = units.get(frame.unit).expect("a frame's unit lives as long as it");
        #[cfg(not(feature = "no_fuel"))]
        {
            fuel += i64::from(unit.owed_at[place as usize]);
            debug_assert!(fuel >= 0, "what was owed is paid before code goes on");
        }
        let mut registers = stack.values.registers(base, unit.registers);
        let mut ahead = unit.code[place as usize..].iter();
        unit.used.set(true);
        macro_rules! numbers {
            ($instruction:ident, $left:expr, $right:expr) => {
                match ($left.as_number(), $right.as_number()) {
                    (Some(left), Some(right)) => (left, right),
                    _ => break Exit::Surprise,
                }
            };
        }
        macro_rules! compute {
            ($instruction:ident, $right:expr, $operate:expr) => {{
                let (left, right) = numbers!($instruction, registers[$instruction.b as usize], $right);
                registers[$instruction.a as usize] = Value::computed($operate(left, right));
            }};
        }
        macro_rules! compare {
            ($instruction:ident, $right:expr, $holds:expr) => {{
                let (left, right) = numbers!($instruction, registers[$instruction.b as usize], $right);
                registers[$instruction.a as usize] = Value::boolean($holds(&left, &right));
            }};
        }
        macro_rules! jump_unless {
            ($instruction:ident, $right:expr, $holds:expr) => {{
                let (left, right) = numbers!($instruction, registers[$instruction.b as usize], $right);
                if !$holds(&left, &right) {
                    skip!($instruction);
                }
            }};
        }
        // Where code may come again it looks whether it has anything left to pay with. The tree can go on from there.
        macro_rules! pay {
            ($instruction:ident) => {
                #[cfg(not(feature = "no_fuel"))]
                {
                    fuel -= i64::from($instruction.fuel);
                    if fuel < 0 {
                        fuel += i64::from($instruction.fuel);
                        break Exit::Fuel;
                    }
                }
            };
        }
        macro_rules! go {
            ($place:expr) => {
                ahead = unit.code[$place as usize..].iter()
            };
        }
        // An object that is not here is loaded, which settles it, and the instruction taken again: the usual way stays short.
        macro_rules! filled {
            ($handle:ident) => {{
                let object = heap.resident($handle);
                if object.kind() == ObjectKind::Hollow {
                    heap.fill($handle);
                    go!(unit.code.len() - ahead.len() - 1);
                    continue;
                }
                object
            }};
        }
        // A jump ahead owes no more than before.
        macro_rules! skip {
            ($instruction:ident) => {{
                #[cfg(not(feature = "no_fuel"))]
                {
                    fuel -= i64::from($instruction.fuel);
                }
                go!($instruction.x)
            }};
        }
        // Calls what the site knows, its receiver in the register behind `a`, its arguments after that.
        macro_rules! call {
            ($instruction:ident, $site:ident, $count:expr) => {
                match $site.callee.get() {
                    Callee::Code(id, scope) => {
                        if stack.depth >= depth_limit {
                            break Exit::Deep;
                        }
                        pay!($instruction);
                        if let Some(top) = stack.frames.last_mut() {
                            top.phase = Phase::Step((unit.code.len() - ahead.len()) as u32);
                        }
                        let target = registers[$instruction.a as usize + 1];
                        base += $instruction.a as usize + 1;
                        unit = units.get(id).expect("a site's unit lives as long as its epoch");
                        unit.used.set(true);
                        ahead = unit.code.iter();
                        registers = stack.values.registers(base, unit.registers);
                        if !scope.is_nil() {
                            registers[0] = scope;
                        }
                        unit.clear_locals(registers, $count);
                        let (block, holder) = ($site.value.get().assume_handle(), $site.holder.get());
                        stack.frames.push(Frame::code(id, $site.message, block, holder, target, base));
                        stack.depth += 1;
                    }
                    Callee::Quick(quick) => {
                        let first = $instruction.a as usize + 1;
                        let mut bench = Bench { heap: &mut *heap, names: &*names, protos: &*protos };
                        match quick(&mut bench, registers[first], &registers[first + 1..first + 1 + $count]) {
                            Some(value) => registers[$instruction.a as usize] = value,
                            None => break Exit::Invoke,
                        }
                        if heap.collection_due() || heap.usage().counted_bytes() > memory_limit {
                            break Exit::Safepoint;
                        }
                    }
                    _ => break Exit::Invoke,
                }
            };
        }
        // Sends the message of a site to a target. What is no call has no use for its arguments: the long way gives
        // their fuel back.
        macro_rules! send {
            ($instruction:ident, $target:expr, $count:expr) => {{
                let site = &unit.sites[$instruction.x as usize];
                let target = $target;
                let object = heap.resident(target.as_handle().unwrap_or(number_proto));
                if object.shape() != site.shape.get() || heap.epoch() != site.epoch.get() {
                    break Exit::Send;
                }
                let holder = if site.known.get() == Known::Own { object } else { heap.resident(site.holder.get()) };
                let value = holder.slot(site.index.get() as usize);
                if value == site.value.get() {
                    registers[$instruction.a as usize + 1] = target;
                    call!($instruction, site, $count);
                } else if $count == 0 && !activates!(value) {
                    registers[$instruction.a as usize] = value;
                } else {
                    break Exit::Send;
                }
            }};
        }
        macro_rules! activates {
            ($value:ident) => {
                $value.as_handle().is_some_and(|handle| heap.object(handle).has(flag::ACTIVATABLE))
            };
        }
        // Reads a slot, if it is the target's own and no call: that needs no more than the shape.
        macro_rules! get {
            ($instruction:ident, $target:ident, $object:ident) => {{
                let site = &unit.sites[$instruction.x as usize];
                if $object.shape() == site.own_shape.get() {
                    let value = $object.slot(site.index.get() as usize);
                    if value.is_number() || !activates!(value) {
                        registers[$instruction.a as usize] = value;
                        continue;
                    }
                }
            }};
        }
        // Whether a counter has not yet passed its end.
        macro_rules! counts {
            ($counter:ident, $first:ident) => {{
                let (end, step) = (registers[$first + 1].assume_number(), registers[$first + 2].assume_number());
                if step > 0.0 { $counter <= end } else { $counter >= end }
            }};
        }
        macro_rules! right {
            ($instruction:ident) => {
                registers[$instruction.c as usize]
            };
        }
        use std::ops::{Add, Div, Mul, Sub};

        let exit = loop {
            let Some(instruction) = ahead.next() else { unreachable!("code ends by going elsewhere") };
            match instruction.op {
                Op::Constant => registers[instruction.a as usize] = instruction.value,
                Op::Move => registers[instruction.a as usize] = registers[instruction.b as usize],
                Op::Load => {
                    let value = registers[instruction.b as usize];
                    if !value.is_number() {
                        let Some(handle) = value.as_handle() else { break Exit::Leave };
                        if filled!(handle).has(flag::ACTIVATABLE) {
                            break Exit::Leave;
                        }
                    }
                    registers[instruction.a as usize] = value;
                }
                Op::Number => {
                    let value = registers[instruction.b as usize];
                    if !value.is_number() {
                        break Exit::Surprise;
                    }
                    registers[instruction.a as usize] = value;
                }
                Op::Add => compute!(instruction, right!(instruction), f64::add),
                Op::Subtract => compute!(instruction, right!(instruction), f64::sub),
                Op::Multiply => compute!(instruction, right!(instruction), f64::mul),
                Op::Divide => compute!(instruction, right!(instruction), f64::div),
                Op::Modulo => compute!(instruction, right!(instruction), modulo),
                Op::Less => compare!(instruction, right!(instruction), f64::lt),
                Op::Greater => compare!(instruction, right!(instruction), f64::gt),
                Op::LessEqual => compare!(instruction, right!(instruction), f64::le),
                Op::GreaterEqual => compare!(instruction, right!(instruction), f64::ge),
                Op::Equal => compare!(instruction, right!(instruction), f64::eq),
                Op::NotEqual => compare!(instruction, right!(instruction), f64::ne),
                Op::AddConstant => compute!(instruction, instruction.value, f64::add),
                Op::SubtractConstant => compute!(instruction, instruction.value, f64::sub),
                Op::MultiplyConstant => compute!(instruction, instruction.value, f64::mul),
                Op::DivideConstant => compute!(instruction, instruction.value, f64::div),
                Op::ModuloConstant => compute!(instruction, instruction.value, modulo),
                Op::LessConstant => compare!(instruction, instruction.value, f64::lt),
                Op::GreaterConstant => compare!(instruction, instruction.value, f64::gt),
                Op::LessEqualConstant => compare!(instruction, instruction.value, f64::le),
                Op::GreaterEqualConstant => compare!(instruction, instruction.value, f64::ge),
                Op::EqualConstant => compare!(instruction, instruction.value, f64::eq),
                Op::NotEqualConstant => compare!(instruction, instruction.value, f64::ne),
                Op::UnlessLess => jump_unless!(instruction, right!(instruction), f64::lt),
                Op::UnlessGreater => jump_unless!(instruction, right!(instruction), f64::gt),
                Op::UnlessLessEqual => jump_unless!(instruction, right!(instruction), f64::le),
                Op::UnlessGreaterEqual => jump_unless!(instruction, right!(instruction), f64::ge),
                Op::UnlessEqual => jump_unless!(instruction, right!(instruction), f64::eq),
                Op::UnlessNotEqual => jump_unless!(instruction, right!(instruction), f64::ne),
                Op::UnlessLessConstant => jump_unless!(instruction, instruction.value, f64::lt),
                Op::UnlessGreaterConstant => jump_unless!(instruction, instruction.value, f64::gt),
                Op::UnlessLessEqualConstant => jump_unless!(instruction, instruction.value, f64::le),
                Op::UnlessGreaterEqualConstant => jump_unless!(instruction, instruction.value, f64::ge),
                Op::UnlessEqualConstant => jump_unless!(instruction, instruction.value, f64::eq),
                Op::UnlessNotEqualConstant => jump_unless!(instruction, instruction.value, f64::ne),
                Op::Jump => {
                    pay!(instruction);
                    go!(instruction.x);
                }
                Op::JumpUnless => {
                    if !registers[instruction.b as usize].is_true() {
                        skip!(instruction);
                    }
                }
                Op::ForBegin => {
                    let first = instruction.a as usize;
                    let counter = registers[first].assume_number();
                    if counts!(counter, first) {
                        registers[instruction.b as usize] = Value::computed(counter);
                    } else {
                        skip!(instruction);
                    }
                }
                Op::ForNext => {
                    let first = instruction.a as usize;
                    let counter = registers[first].assume_number() + registers[first + 2].assume_number();
                    if counts!(counter, first) {
                        pay!(instruction);
                        registers[first] = Value::computed(counter);
                        registers[instruction.b as usize] = Value::computed(counter);
                        go!(instruction.x);
                    }
                }
                Op::RepeatBegin | Op::RepeatNext => {
                    let first = instruction.a as usize;
                    let done = registers[first].assume_number();
                    let more = done < registers[first + 1].assume_number();
                    let jumps = more == (instruction.op == Op::RepeatNext);
                    if jumps {
                        pay!(instruction);
                    }
                    if more {
                        if instruction.c != 0 {
                            registers[instruction.b as usize] = Value::computed(done);
                        }
                        registers[first] = Value::computed(done + 1.0);
                    }
                    if jumps {
                        go!(instruction.x);
                    }
                }
                Op::ForeachBegin => {
                    let list = registers[instruction.a as usize + 3];
                    let site = &unit.sites[instruction.value.as_number().unwrap_or(0.0) as usize];
                    let is_list = list.as_handle().is_some_and(|handle| {
                        let (place, steps) = heap.find_counted(handle, site.name);
                        heap.list(handle).is_some()
                            && place.is_some_and(|place| place.holder == list_proto)
                            && !is_long_way(steps)
                    });
                    if !is_list {
                        break Exit::Surprise;
                    }
                    let item = list.as_handle().and_then(|list| heap.list(list)).and_then(|items| items.first());
                    match item {
                        Some(&item) => {
                            registers[instruction.b as usize] = Value::number(0.0);
                            registers[instruction.c as usize] = item;
                            registers[instruction.a as usize] = Value::number(1.0);
                        }
                        None => {
                            registers[instruction.a as usize] = Value::number(0.0);
                            skip!(instruction);
                        }
                    }
                }
                Op::ForeachNext => {
                    let first = instruction.a as usize;
                    let index = registers[first].assume_number();
                    let list = registers[first + 3].as_handle().and_then(|list| heap.list(list));
                    if let Some(&item) = list.and_then(|items| items.get(index as usize)) {
                        pay!(instruction);
                        registers[instruction.b as usize] = Value::computed(index);
                        registers[instruction.c as usize] = item;
                        registers[first] = Value::computed(index + 1.0);
                        go!(instruction.x);
                    }
                }
                Op::Get => {
                    let target = registers[instruction.b as usize];
                    if let Some(handle) = target.as_handle() {
                        let object = heap.resident(handle);
                        get!(instruction, target, object);
                    }
                    send!(instruction, target, 0)
                }
                Op::GetOfLocal => {
                    let target = registers[instruction.b as usize];
                    if let Some(handle) = target.as_handle() {
                        let object = filled!(handle);
                        if object.has(flag::ACTIVATABLE) {
                            break Exit::Leave;
                        }
                        get!(instruction, target, object);
                    }
                    send!(instruction, target, 0)
                }
                Op::Send => send!(instruction, registers[instruction.b as usize], instruction.c as usize),
                Op::SendSelf => send!(instruction, registers[0], instruction.c as usize),
                Op::Find | Op::FindSelf => {
                    let site = &unit.sites[instruction.x as usize];
                    let receiver = if instruction.op == Op::Find { instruction.b as usize } else { 0 };
                    let target = registers[receiver];
                    let object = heap.resident(target.as_handle().unwrap_or(number_proto));
                    if object.shape() != site.shape.get() || heap.epoch() != site.epoch.get() {
                        break Exit::Find;
                    }
                    let holder = if site.known.get() == Known::Own { object } else { heap.resident(site.holder.get()) };
                    let value = holder.slot(site.index.get() as usize);
                    // A block that is sent `call` decides how many arguments are evaluated: another each time.
                    if value != site.value.get() || matches!(site.callee.get(), Callee::CallBlock) {
                        break Exit::Find;
                    }
                    registers[instruction.a as usize] = value;
                    registers[instruction.a as usize + 1] = target;
                }
                Op::Call => {
                    let site = &unit.sites[instruction.x as usize];
                    // The arguments may have made the unit of what was found go away.
                    if registers[instruction.a as usize] != site.value.get() || heap.epoch() != site.epoch.get() {
                        break Exit::Call;
                    }
                    call!(instruction, site, instruction.c as usize)
                }
                Op::SetSlot | Op::UpdateSlot => {
                    let site = &unit.sites[instruction.x as usize];
                    let (target, value) = (registers[instruction.b as usize], registers[instruction.c as usize]);
                    let (Some(handle), true) = (target.as_handle(), heap.epoch() == site.epoch.get()) else {
                        break Exit::Write;
                    };
                    let (own, index) = (site.own_shape.get(), site.index.get() as usize);
                    if !heap.overwrite_slot(handle, own, index, value) {
                        if heap.resident(handle).shape() != site.shape.get() {
                            break Exit::Write;
                        }
                        match site.known.get() {
                            Known::Own => heap.set_slot_at(handle, index, value),
                            _ => heap.add_slot(handle, site.next.get(), value),
                        }
                    }
                }
                Op::Bind => {
                    let site = &unit.sites[instruction.x as usize];
                    let (own, index) = (site.own_shape.get(), site.index.get() as usize);
                    let value = registers[instruction.c as usize];
                    match registers[0].as_handle() {
                        Some(handle)
                            if heap.epoch() == site.epoch.get() && heap.overwrite_slot(handle, own, index, value) => {}
                        _ => break Exit::Bind,
                    }
                }
                Op::Guard => {
                    let site = &unit.sites[instruction.x as usize];
                    let value = registers[instruction.b as usize];
                    let object = heap.object(value.as_handle().unwrap_or(number_proto));
                    if instruction.c != 0 && object.has(flag::ACTIVATABLE) {
                        break Exit::Leave;
                    }
                    if object.shape() != site.shape.get() || heap.epoch() != site.epoch.get() {
                        break Exit::Guard;
                    }
                    registers[instruction.a as usize] = value;
                }
                Op::UpdateSelf => break Exit::Update,
                Op::Return => {
                    #[cfg(not(feature = "no_fuel"))]
                    {
                        fuel -= i64::from(instruction.fuel);
                    }
                    let value = registers[instruction.b as usize];
                    let frame = stack.frames.pop().expect("a running machine has a frame");
                    if !frame.is_activation() {
                        stack.values.truncate(base);
                        tank.slice = fuel;
                        return Exit::Return(value);
                    }
                    stack.depth -= 1;
                    let caller = stack.frames.last().expect("the lowest frame is the host's");
                    let (Kind::Code, Phase::Step(place), true) = (caller.kind, caller.phase, fuel >= 0) else {
                        tank.slice = fuel;
                        return Exit::Return(value);
                    };
                    base = caller.base as usize;
                    unit = units.get(caller.unit).expect("a frame's unit lives as long as it");
                    registers = stack.values.window(base);
                    ahead = unit.code[place as usize - 1..].iter();
                    if let Some(send) = ahead.next() {
                        registers[send.a as usize] = value;
                        #[cfg(not(feature = "no_fuel"))]
                        {
                            fuel += i64::from(send.fuel);
                        }
                    }
                }
                Op::Leave => break Exit::Leave,
            }
        };
        let taken = unit.code.len() - ahead.len() - matches!(exit, Exit::Fuel) as usize;
        if let Some(top) = stack.frames.last_mut() {
            top.phase = Phase::Step(taken as u32);
        }
        #[cfg(not(feature = "no_fuel"))]
        {
            fuel -= i64::from(unit.owed_at[taken]);
        }
        tank.slice = fuel;
        exit
    }
}
