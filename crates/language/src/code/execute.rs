//! The loop that executes instructions. What it cannot do with registers and slots alone it hands out as an `Exit`.
//!
//! Long functions: execute (a dispatch; its arms are short)
//!
//! Long because the loop is one function: its registers and fuel stay in machine registers only within it.

use super::Unit;
use super::instruction::{Instruction, Op};
use super::site::{Callee, Known, Site};
use crate::machine::frame::{Frame, Kind, Phase, Stack};
use crate::primitives::modulo;
use crate::primitives::quick::Bench;
use crate::signal::{Halt, Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Value, flag};
use std::rc::Rc;

/// Why the loop stopped. The frame's step is behind the instruction, unless said otherwise.
pub(super) enum Exit {
    /// The instruction that is next needs more fuel than is left in the slice.
    Fuel,
    /// A value was not what the code assumed; the message is remembered as surprising.
    Surprise(Instruction),
    /// Something that only the tree can do.
    Leave(Instruction),
    /// A send that the site does not answer yet.
    Send(Instruction),
    /// A primitive that the site knows.
    Primitive(Instruction, u32, Value),
    Find(Instruction),
    Call(Instruction),
    Write(Instruction),
    Update(Instruction),
    Bind(Instruction),
    Guard(Instruction),
    /// A block that runs as a tree.
    Block(Instruction, Value),
    /// `call` to a block.
    CallBlock(Instruction, Value),
    /// Deeper than the memory limit was last looked at, or than calls may nest.
    Deep(Instruction),
    /// Time for a collection, or for a look at the memory limit.
    Safepoint,
    /// The answer of the lowest code frame, which is gone.
    Return(Value),
}

impl Vm {
    /// Goes on with the code frame on top until a frame beneath that is no code is to have a value.
    pub(crate) fn run_code(&mut self) -> Outcome {
        loop {
            let exit = self.execute();
            let outcome = match exit {
                Exit::Return(value) => Some(Ok(value)),
                Exit::Primitive(instruction, index, target) => self.call_primitive(instruction, index, target),
                Exit::Send(instruction) => self.send_from_code(instruction),
                Exit::Find(instruction) => self.find_from_code(instruction),
                Exit::Call(instruction) => self.call_from_code(instruction),
                Exit::Write(instruction) => self.write_from_code(instruction),
                Exit::Bind(instruction) => self.bind_from_code(instruction),
                Exit::Guard(instruction) => self.guard_from_code(instruction),
                Exit::CallBlock(instruction, target) => self.call_block_from_code(instruction, target),
                Exit::Block(instruction, target) => self.activate_from_code(instruction, target),
                Exit::Update(instruction) => self.update_from_code(instruction),
                Exit::Leave(instruction) => Some(self.leave_code(instruction)),
                Exit::Surprise(instruction) => Some(self.leave_surprised(instruction)),
                Exit::Fuel => self.refuel_code(),
                Exit::Safepoint => self.safepoint().err().map(Err),
                Exit::Deep(instruction) => self.look_at_depth(instruction),
            };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
    }

    /// The unit of the code frame on top.
    pub(super) fn running_unit(&mut self) -> Rc<Unit> {
        let id = self.top().unit;
        self.units.get(id).expect("a frame's unit lives as long as it").clone()
    }

    /// Gives the code frame on top the answer it waits for.
    #[inline]
    pub(crate) fn accept(&mut self, value: Value) {
        let Some(index) = self.waiting_register() else { return };
        self.stack.values.reach(index + 1);
        self.stack.values[index] = value;
    }

    /// Where on the value stack the frame on top waits for an answer, if it is code.
    #[inline]
    pub(crate) fn waiting_register(&mut self) -> Option<usize> {
        let frame = *self.top();
        let (Kind::Code, Phase::Step(place)) = (frame.kind, frame.phase) else { return None };
        let unit = self.units.get(frame.unit).expect("a frame's unit lives as long as it");
        Some(frame.base as usize + unit.code[place as usize - 1].a as usize)
    }

    /// The next slice; what is left at the very end is used up message by message in the tree.
    fn refuel_code(&mut self) -> Option<Outcome> {
        match self.refuel() {
            Ok(()) if self.units.stressed => {
                let outcome = self.leave_unpaid();
                self.leave_recent();
                Some(outcome)
            }
            Ok(()) => None,
            Err(Signal::Halt(Halt::Fuel { .. })) if self.tank.slice > 0 => Some(self.leave_unpaid()),
            Err(signal) => Some(Err(signal)),
        }
    }

    /// Too deep, or just deep enough to look at the memory that stacks take; then the call is made after all.
    fn look_at_depth(&mut self, instruction: Instruction) -> Option<Outcome> {
        if self.stack.depth >= self.limits.depth {
            return Some(Err(self.raise_too_deep()));
        }
        self.stack.looked();
        self.tank.slice += instruction.fuel as u64;
        self.step_back();
        self.safepoint().err().map(Err)
    }

    /// Executes code frames until something is to be done that needs more than registers and slots.
    fn execute(&mut self) -> Exit {
        let (number_proto, list_proto) = (self.protos.number, self.protos.list);
        let depth_limit = self.limits.depth.min(self.stack.look_at_depth);
        let memory_limit = self.limits.memory_bytes.map_or(usize::MAX, |bytes| bytes as usize);
        let Vm { heap, stack, tank, units, names, protos, .. } = self;
        let mut fuel = tank.slice;
        let exit = 'frame: loop {
            let frame = stack.frames.last().expect("a running machine has a frame");
            let (base, id) = (frame.base as usize, frame.unit);
            let Phase::Step(place) = frame.phase else { unreachable!("a code frame is at a step") };
            let mut at = place as usize;
            let unit: &Unit = units.get(id).expect("a frame's unit lives as long as it");
            unit.used.set(true);
            let end = base + unit.registers;
            stack.values.reach(end);
            let registers = stack.values.window(base);
            let code = &unit.code[..];
            macro_rules! numbers {
                ($instruction:ident, $left:expr, $right:expr) => {
                    match ($left.as_number(), $right.as_number()) {
                        (Some(left), Some(right)) => (left, right),
                        _ => break Exit::Surprise(*$instruction),
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
                        at = $instruction.x as usize;
                    }
                }};
            }
            macro_rules! break_with_call {
                ($instruction:ident, $site:ident, $target:ident) => {
                    match $site.callee.get() {
                        Callee::Primitive(index) => break Exit::Primitive(*$instruction, index, $target),
                        Callee::Block => break Exit::Block(*$instruction, $target),
                        Callee::CallBlock => break Exit::CallBlock(*$instruction, $target),
                        Callee::Quick(index, quick) => {
                            let (first, count) = ($instruction.a as usize + 2, $instruction.c as usize);
                            let mut bench = Bench { heap: &mut *heap, names: &*names, protos: &*protos };
                            match quick(&mut bench, $target, &registers[first..first + count]) {
                                Some(value) => registers[$instruction.a as usize] = value,
                                None => break Exit::Primitive(*$instruction, index, $target),
                            }
                            if heap.collection_due() || heap.usage().bytes > memory_limit {
                                break Exit::Safepoint;
                            }
                            continue;
                        }
                        Callee::Code(id, scope) => {
                            if stack.depth >= depth_limit {
                                break Exit::Deep(*$instruction);
                            }
                            let callee: &Unit = units.get(id).expect("a site's unit lives as long as its epoch");
                            if let Some(top) = stack.frames.last_mut() {
                                top.phase = Phase::Step(at as u32);
                            }
                            let first = base + $instruction.a as usize + 1;
                            enter(stack, callee, $site, id, $target, scope, first, $instruction.c as usize);
                            continue 'frame;
                        }
                    }
                };
            }
            // The fuel of a round. Without it, the whole instruction is done again, and has to be paid again.
            macro_rules! round {
                ($instruction:ident) => {
                    if fuel == 0 {
                        fuel += $instruction.fuel as u64;
                        at -= 1;
                        break Exit::Fuel;
                    }
                    fuel -= 1;
                };
            }
            macro_rules! right {
                ($instruction:ident) => {
                    registers[$instruction.c as usize]
                };
            }
            use std::ops::{Add, Div, Mul, Sub};

            let exit = loop {
                let instruction = &code[at];
                #[cfg(not(feature = "no_fuel"))]
                {
                    let cost = instruction.fuel as u64;
                    if fuel < cost {
                        break Exit::Fuel;
                    }
                    fuel -= cost;
                }
                at += 1;
                match instruction.op {
                    Op::Constant => registers[instruction.a as usize] = instruction.value,
                    Op::Move => registers[instruction.a as usize] = registers[instruction.b as usize],
                    Op::Load => {
                        let value = registers[instruction.b as usize];
                        if !value.is_number() {
                            match value.as_handle() {
                                Some(handle) if !heap.object(handle).has(flag::ACTIVATABLE) => {}
                                _ => break Exit::Leave(*instruction),
                            }
                        }
                        registers[instruction.a as usize] = value;
                    }
                    Op::Number => {
                        let value = registers[instruction.b as usize];
                        if !value.is_number() {
                            break Exit::Surprise(*instruction);
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
                    Op::Jump => at = instruction.x as usize,
                    Op::JumpUnless => {
                        if !registers[instruction.b as usize].is_true() {
                            at = instruction.x as usize;
                        }
                    }
                    Op::ForBegin | Op::ForNext => {
                        let first = instruction.a as usize;
                        let [counter, end, step] =
                            [first, first + 1, first + 2].map(|register| registers[register].assume_number());
                        let is_next = instruction.op == Op::ForNext;
                        let counter = if is_next { counter + step } else { counter };
                        let more = if step > 0.0 { counter <= end } else { counter >= end };
                        if more {
                            round!(instruction);
                            registers[first] = Value::computed(counter);
                            registers[instruction.b as usize] = Value::computed(counter);
                        }
                        if more == is_next {
                            at = instruction.x as usize;
                        }
                    }
                    Op::RepeatBegin | Op::RepeatNext => {
                        let first = instruction.a as usize;
                        let done = registers[first].assume_number();
                        let more = done < registers[first + 1].assume_number();
                        if more {
                            round!(instruction);
                            if instruction.c != 0 {
                                registers[instruction.b as usize] = Value::computed(done);
                            }
                            registers[first] = Value::computed(done + 1.0);
                        }
                        if more == (instruction.op == Op::RepeatNext) {
                            at = instruction.x as usize;
                        }
                    }
                    Op::ForeachBegin => {
                        let list = registers[instruction.a as usize + 3];
                        let site = &unit.sites[instruction.value.as_number().unwrap_or(0.0) as usize];
                        let is_list = list.as_handle().is_some_and(|handle| {
                            heap.list(handle).is_some()
                                && heap.find(handle, site.name).is_some_and(|place| place.holder == list_proto)
                        });
                        if !is_list {
                            break Exit::Surprise(*instruction);
                        }
                        let item = list.as_handle().and_then(|list| heap.list(list)).and_then(|items| items.first());
                        match item {
                            Some(&item) => {
                                round!(instruction);
                                registers[instruction.b as usize] = Value::number(0.0);
                                registers[instruction.c as usize] = item;
                                registers[instruction.a as usize] = Value::number(1.0);
                            }
                            None => {
                                registers[instruction.a as usize] = Value::number(0.0);
                                at = instruction.x as usize;
                            }
                        }
                    }
                    Op::ForeachNext => {
                        let first = instruction.a as usize;
                        let index = registers[first].assume_number();
                        let list = registers[first + 3].as_handle().and_then(|list| heap.list(list));
                        if let Some(&item) = list.and_then(|items| items.get(index as usize)) {
                            round!(instruction);
                            registers[instruction.b as usize] = Value::computed(index);
                            registers[instruction.c as usize] = item;
                            registers[first] = Value::computed(index + 1.0);
                            at = instruction.x as usize;
                        }
                    }
                    Op::Send | Op::SendSelf => {
                        let site = &unit.sites[instruction.x as usize];
                        let receiver = if instruction.op == Op::Send { instruction.b as usize } else { 0 };
                        let target = registers[receiver];
                        let handle = target.as_handle().unwrap_or(number_proto);
                        let object = heap.object(handle);
                        if object.shape() != site.shape.get() || heap.epoch() != site.epoch.get() {
                            break Exit::Send(*instruction);
                        }
                        let index = site.index.get() as usize;
                        let value = match site.known.get() {
                            Known::Own => object.slot(index),
                            _ => heap.object(site.holder.get()).slot(index),
                        };
                        match value.as_handle() {
                            // What is no call has no use for its arguments: their fuel is given back.
                            None if instruction.c > 0 => break Exit::Send(*instruction),
                            None => registers[instruction.a as usize] = value,
                            Some(callee) if callee == site.value.get() => {
                                registers[instruction.a as usize + 1] = target;
                                break_with_call!(instruction, site, target)
                            }
                            Some(callee) if instruction.c > 0 || heap.object(callee).has(flag::ACTIVATABLE) => {
                                break Exit::Send(*instruction);
                            }
                            Some(_) => registers[instruction.a as usize] = value,
                        }
                    }
                    Op::Find | Op::FindSelf => {
                        let site = &unit.sites[instruction.x as usize];
                        let receiver = if instruction.op == Op::Find { instruction.b as usize } else { 0 };
                        let target = registers[receiver];
                        let handle = target.as_handle().unwrap_or(number_proto);
                        let object = heap.object(handle);
                        if object.shape() != site.shape.get() || heap.epoch() != site.epoch.get() {
                            break Exit::Find(*instruction);
                        }
                        let index = site.index.get() as usize;
                        let value = match site.known.get() {
                            Known::Own => object.slot(index),
                            _ => heap.object(site.holder.get()).slot(index),
                        };
                        match value.as_handle() {
                            // A block that is sent `call` decides how many arguments are evaluated: another each time.
                            Some(callee)
                                if callee == site.value.get()
                                    && callee != Handle(0)
                                    && !matches!(site.callee.get(), Callee::CallBlock) =>
                            {
                                registers[instruction.a as usize] = value;
                                registers[instruction.a as usize + 1] = target;
                            }
                            _ => break Exit::Find(*instruction),
                        }
                    }
                    Op::Call => {
                        let site = &unit.sites[instruction.x as usize];
                        let callee = registers[instruction.a as usize].as_handle();
                        // The arguments may have made the unit of what was found go away.
                        if callee != Some(site.value.get()) || heap.epoch() != site.epoch.get() {
                            break Exit::Call(*instruction);
                        }
                        let target = registers[instruction.a as usize + 1];
                        break_with_call!(instruction, site, target)
                    }
                    Op::SetSlot | Op::UpdateSlot => {
                        let site = &unit.sites[instruction.x as usize];
                        let value = registers[instruction.c as usize];
                        let Some(handle) = registers[instruction.b as usize].as_handle() else {
                            break Exit::Write(*instruction);
                        };
                        if heap.shape(handle) != site.shape.get() || heap.epoch() != site.epoch.get() {
                            break Exit::Write(*instruction);
                        }
                        match site.known.get() {
                            Known::Own => heap.set_slot_at(handle, site.index.get() as usize, site.name, value),
                            _ => heap.add_slot(handle, site.next.get(), site.name, value),
                        }
                    }
                    Op::Bind => {
                        let site = &unit.sites[instruction.x as usize];
                        let value = registers[instruction.c as usize];
                        match registers[0].as_handle() {
                            Some(handle)
                                if heap.shape(handle) == site.shape.get() && heap.epoch() == site.epoch.get() =>
                            {
                                heap.set_slot_at(handle, site.index.get() as usize, site.name, value)
                            }
                            _ => break Exit::Bind(*instruction),
                        }
                    }
                    Op::Guard => {
                        let site = &unit.sites[instruction.x as usize];
                        let value = registers[instruction.b as usize];
                        let handle = value.as_handle().unwrap_or(number_proto);
                        if heap.shape(handle) != site.shape.get() || heap.epoch() != site.epoch.get() {
                            break Exit::Guard(*instruction);
                        }
                        registers[instruction.a as usize] = value;
                    }
                    Op::UpdateSelf => break Exit::Update(*instruction),
                    Op::Return => {
                        let value = registers[instruction.b as usize];
                        let frame = stack.frames.pop().expect("a running machine has a frame");
                        if !frame.is_activation() {
                            stack.values.truncate(base);
                            break 'frame Exit::Return(value);
                        }
                        stack.depth -= 1;
                        let caller = stack.frames.last().expect("the lowest frame is the host's");
                        if caller.kind != Kind::Code {
                            break 'frame Exit::Return(value);
                        }
                        // Code that calls code keeps the callee in the register before the receiver, for the answer.
                        stack.values[base - 1] = value;
                        continue 'frame;
                    }
                    Op::Leave => break Exit::Leave(*instruction),
                }
            };
            if let Some(top) = stack.frames.last_mut() {
                top.phase = Phase::Step(at as u32);
            }
            break exit;
        };
        tank.slice = fuel;
        exit
    }
}

/// Pushes the frame of a callee whose receiver is at `first` and whose arguments follow.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn enter(
    stack: &mut Stack,
    unit: &Unit,
    site: &Site,
    id: u32,
    target: Value,
    scope: Value,
    first: usize,
    count: usize,
) {
    stack.values.reach(first + unit.registers);
    let registers = stack.values.window(first);
    if !scope.is_nil() {
        registers[0] = scope;
    }
    if count < unit.argument_count {
        registers[1 + count..=unit.argument_count].fill(Value::NIL);
    }
    if unit.argument_count < unit.names.len() {
        registers[1 + unit.argument_count..=unit.names.len()].fill(Value::ABSENT);
    }
    stack.frames.push(Frame::code(id, site.message, site.value.get(), site.holder.get(), target, first));
    stack.depth += 1;
}
