//! Calls from compiled code: what a name leads to, remembered at the site, and the frames of callees.

use super::instruction::{Instruction, Op};
use super::site::{Callee, Known, Site};
use crate::block::{Activation, field};
use crate::machine::evaluate::{Found, is_long_way};
use crate::machine::frame::{Frame, Kind, Phase, frame_flag};
use crate::machine::scopes::Scopes;
use crate::primitives::{Args, Eagerness, Role};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind as ObjectKind, Symbol, Value, flag};

/// What a lookup means for code.
enum Answer {
    /// The slot's value, as it is.
    Plain(Value),
    /// Something to call, for this receiver.
    Callee(Handle, Value),
    /// Only the tree can do this.
    Tree,
}

impl Vm {
    /// A send whose site had no answer: looks it up, remembers it, and goes on.
    pub(super) fn send_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        match self.resolve(site, instruction, base) {
            Answer::Plain(value) => {
                // The arguments were not evaluated as far as anybody can tell.
                self.tank.slice += instruction.value.as_number().unwrap_or(0.0) as i64;
                self.stack.values[base + instruction.a as usize] = value;
                None
            }
            Answer::Callee(_, target) => self.invoke_known(site, instruction, target, base),
            Answer::Tree => Some(self.evaluate_or_leave(instruction, site)),
        }
    }

    /// As above, before the arguments are evaluated.
    pub(super) fn find_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let first = base + instruction.a as usize;
        match self.resolve(site, instruction, base) {
            Answer::Plain(value) => {
                self.stack.values[first] = value;
                let end = instruction.value.as_number().unwrap_or(0.0) as u32;
                self.top().phase = Phase::Step(end);
                None
            }
            Answer::Callee(callee, target) => {
                self.stack.values[first] = Value::object(callee);
                self.stack.values[first + 1] = target;
                None
            }
            Answer::Tree => {
                // Its answer comes to where the call's would.
                let end = instruction.value.as_number().unwrap_or(0.0) as usize;
                if unit.code[end - 1].op != Op::Call || self.top().locals.is_absent() {
                    return Some(self.leave_code());
                }
                let outcome = self.evaluate_or_leave(instruction, site);
                let code = self.stack.frames.len() - 2;
                self.stack.frames[code].phase = Phase::Step(end as u32);
                Some(outcome)
            }
        }
    }

    /// Has the tree evaluate one message, if the code's locals are an object that it can be evaluated in.
    fn evaluate_or_leave(&mut self, instruction: Instruction, site: &Site) -> Outcome {
        let frame = *self.top();
        if frame.locals.is_absent() {
            return self.leave_code();
        }
        // The tree pays for this message again, but not for what was evaluated before it.
        self.tank.slice += match instruction.op {
            Op::Find | Op::FindSelf => 1,
            _ => 1 + instruction.value.as_number().unwrap_or(0.0) as i64,
        };
        let target = match instruction.op {
            Op::SendSelf | Op::FindSelf => frame.locals,
            _ => self.stack.values[frame.base as usize + instruction.b as usize],
        };
        self.push_chain(site.message, target, frame.locals);
        self.top().flags = frame_flag::SINGLE;
        Err(Signal::Entered)
    }

    fn resolve(&mut self, site: &Site, instruction: Instruction, base: usize) -> Answer {
        let count = instruction.c as usize;
        let to_self = matches!(instruction.op, Op::SendSelf | Op::FindSelf);
        let receiver = if to_self { 0 } else { instruction.b as usize };
        let target = self.stack.values[base + receiver];
        // The site shall remember the shape that it keeps.
        if let Some(handle) = target.as_handle() {
            self.heap.fill(handle);
        }
        let (from_locals, locals_steps) =
            if to_self { self.heap.find_counted(self.protos.locals, site.name) } else { (None, 0) };
        let (found, steps) = match from_locals {
            // What Locals answer themselves concerns the locals, unless it asks for nothing of its receiver.
            Some(_) if !self.is_context_free(site.name) => return Answer::Tree,
            Some(place) => (Some(Found { value: self.heap.value_at(place), holder: place.holder, target }), 0),
            None => self.look_up_counted(target, site.name),
        };
        let Some(found) = found.filter(|_| !is_long_way(locals_steps.saturating_add(steps))) else {
            return Answer::Tree;
        };
        let handle = self.handle_of(target);
        if found.target == target {
            let shape = self.heap.shape(handle);
            let index = self.heap.own_slot_index(found.holder, site.name).unwrap_or(0) as u32;
            let known = if found.holder == handle { Known::Own } else { Known::Inherited };
            site.learn(shape, self.heap.epoch(), known, index, found.holder);
        } else {
            site.forget();
            site.holder.set(found.holder);
        }
        self.classify(site, found, count)
    }

    fn is_context_free(&self, name: Symbol) -> bool {
        matches!(&*self.heap.symbol_text(name), "list" | "write" | "-")
    }

    /// What the value does when it is looked up, remembered for the next time.
    fn classify(&mut self, site: &Site, found: Found, count: usize) -> Answer {
        let Some(callee) = found.value.as_handle() else { return Answer::Plain(found.value) };
        let object = self.heap.object(callee);
        if !object.has(flag::ACTIVATABLE) {
            return Answer::Plain(found.value);
        }
        let known = match (object.kind(), object.data()) {
            (ObjectKind::Primitive, Data::Primitive(index)) => {
                let primitive = &self.primitives[*index as usize];
                let (eagerness, role) = (primitive.eagerness, primitive.role);
                let calls_block = matches!(role, Role::CallsBlock)
                    && self.kind_of(found.target) == ObjectKind::Block
                    && self.callable_block(self.handle_of(found.target), count).is_some();
                if !calls_block && (eagerness == Eagerness::Lazy || count > eagerness.most()) {
                    return Answer::Tree;
                }
                match role {
                    _ if calls_block => Callee::CallBlock,
                    Role::Quick(quick) => Callee::Quick(quick),
                    _ => Callee::Primitive,
                }
            }
            (ObjectKind::Block, Data::Record(fields)) => {
                if fields.len() - field::ARGUMENT_NAMES < count || fields[field::PASSES_STOPS].is_true() {
                    return Answer::Tree;
                }
                let scope = fields[field::SCOPE];
                match self.unit_of(callee) {
                    Some(unit) => Callee::Code(unit, scope),
                    None => Callee::Block,
                }
            }
            _ => return Answer::Tree,
        };
        site.value.set(found.value);
        site.callee.set(known);
        site.epoch.set(self.heap.epoch());
        Answer::Callee(callee, found.target)
    }

    /// Calls what the site knows, its arguments in the registers behind `a + 1`.
    fn invoke_known(&mut self, site: &Site, instruction: Instruction, target: Value, base: usize) -> Option<Outcome> {
        let first = base + instruction.a as usize;
        match site.callee.get() {
            Callee::Primitive | Callee::Quick(_) => self.call_primitive(instruction, site.value.get(), target),
            Callee::Block => self.activate_from_code(instruction, target),
            Callee::CallBlock => self.call_block_from_code(instruction, target),
            Callee::Code(callee, _) => {
                self.stack.values[first + 1] = target;
                let (block, holder) = (site.value.get().assume_handle(), site.holder.get());
                let activation = Activation { block, target, message: site.message, holder };
                self.enter_unit(callee, activation, first + 1, instruction.c as usize)
            }
        }
    }

    /// Calls what the site knows, with its receiver in the register behind `a`.
    pub(super) fn invoke_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let target = self.stack.values[base + instruction.a as usize + 1];
        self.invoke_known(&unit.sites[instruction.x as usize], instruction, target, base)
    }

    /// Calls what `Find` found, whatever happened to the site while the arguments were evaluated.
    pub(super) fn call_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let first = base + instruction.a as usize;
        let (callee, target) = (self.stack.values[first], self.stack.values[first + 1]);
        if callee == site.value.get() && self.heap.epoch() == site.epoch.get() {
            return self.invoke_known(site, instruction, target, base);
        }
        let (Some(handle), count) = (callee.as_handle(), instruction.c as usize) else {
            return Some(self.leave_code());
        };
        let holder = self.holder_of_callee(target, site.name, callee);
        site.forget();
        site.holder.set(holder);
        match self.classify(site, Found { value: callee, holder, target }, count) {
            Answer::Callee(found, _) if found == handle => self.invoke_known(site, instruction, target, base),
            _ => Some(self.leave_code()),
        }
    }

    /// Who has the slot that a callee came from.
    pub(super) fn holder_of_callee(&mut self, target: Value, name: Symbol, callee: Value) -> Handle {
        match self.look_up(target, name) {
            Some(found) if found.value == callee => found.holder,
            _ => self.handle_of(target),
        }
    }

    /// Calls a primitive; the frame on top waits for its answer.
    #[inline]
    fn call_primitive(&mut self, instruction: Instruction, primitive: Value, target: Value) -> Option<Outcome> {
        let frame = self.stack.frames.last().expect("a running machine has a frame");
        let first = frame.base as usize + instruction.a as usize;
        let unit = self.units.get(frame.unit).expect("a frame's unit lives as long as it");
        let site = &unit.sites[instruction.x as usize];
        let args = Args {
            target,
            at: first + 2,
            count: instruction.c as usize,
            message: site.message,
            locals: frame.locals,
            holder: site.holder.get(),
        };
        let Data::Primitive(index) = *self.heap.object(primitive.assume_handle()).data() else {
            return Some(self.leave_code());
        };
        let function = self.primitives[index as usize].function.clone();
        let tank = self.tank;
        match function.call(self, args) {
            Ok(value) => {
                // What it did may have made this frame leave the code.
                if self.top().kind != Kind::Code {
                    return Some(Ok(value));
                }
                self.stack.values[first] = value;
                match self.safepoint() {
                    Ok(()) => None,
                    Err(signal) => Some(Err(signal)),
                }
            }
            Err(Signal::Reify) => {
                // It is called again from the tree, and pays then.
                self.tank = tank;
                Some(self.leave_code())
            }
            Err(signal) => Some(Err(signal)),
        }
    }

    /// Activates a block that runs as a tree. It may ask for its sender, so code without one has to be left.
    fn activate_from_code(&mut self, instruction: Instruction, target: Value) -> Option<Outcome> {
        let frame = *self.top();
        if frame.locals.is_absent() {
            return Some(self.leave_code());
        }
        let unit = self.running_unit();
        let site = &unit.sites[instruction.x as usize];
        let args = Args {
            target,
            at: frame.base as usize + instruction.a as usize + 2,
            count: instruction.c as usize,
            message: site.message,
            locals: frame.locals,
            holder: site.holder.get(),
        };
        Some(self.activate_block(site.value.get().assume_handle(), args))
    }

    /// `block call(…)`: the block's code, with its arguments where they are.
    fn call_block_from_code(&mut self, instruction: Instruction, target: Value) -> Option<Outcome> {
        let (unit, frame) = (self.running_unit(), *self.top());
        let site = &unit.sites[instruction.x as usize];
        let (block, count) = (self.handle_of(target), instruction.c as usize);
        let at = frame.base as usize + instruction.a as usize + 1;
        // Its sender, which for locals in registers is found when somebody asks.
        let holder = frame.locals.as_handle().unwrap_or(self.protos.block);
        match self.callable_block(block, count) {
            Some(callee) => {
                let activation = Activation { block, target: frame.locals, message: site.message, holder };
                self.enter_unit(callee, activation, at, count)
            }
            None if instruction.op != Op::Call => Some(self.evaluate_or_leave(instruction, site)),
            None => {
                // The arguments are evaluated, and must not be again: only the block is the tree's.
                let locals = self.reify_top();
                let holder = self.handle_of(locals);
                let args = Args { target: locals, at: at + 1, count, message: site.message, locals, holder };
                Some(self.activate_block(block, args))
            }
        }
    }

    /// The unit of a block that code can call with so many arguments. A method called like this has the sender for its
    /// self, which code may have no object for.
    fn callable_block(&mut self, block: Handle, count: usize) -> Option<u32> {
        let fields = self.heap.record(block);
        let takes_all = fields.len().saturating_sub(field::ARGUMENT_NAMES) >= count;
        let closed = fields.get(field::SCOPE).is_some_and(|scope| !scope.is_nil());
        let plain = fields.get(field::PASSES_STOPS).is_some_and(|passes| !passes.is_true());
        if takes_all && closed && plain { self.unit_of(block) } else { None }
    }

    /// Pushes the frame of a unit whose receiver is at `at` and whose arguments follow.
    pub(crate) fn enter_unit(&mut self, id: u32, activation: Activation, at: usize, count: usize) -> Option<Outcome> {
        let Activation { block, target, message, holder } = activation;
        if self.stack.depth >= self.limits.depth {
            return Some(Err(self.raise_too_deep()));
        }
        let Some(unit) = self.units.get(id) else { return Some(Err(Signal::Entered)) };
        let (registers, argument_count, names) = (unit.registers, unit.argument_count, unit.names.len());
        self.stack.values.reach(at + registers);
        let values = &mut self.stack.values;
        let scope = self.heap.record(block)[field::SCOPE];
        if !scope.is_nil() {
            values[at] = scope;
        }
        for index in count..argument_count {
            values[at + 1 + index] = Value::NIL;
        }
        for index in argument_count..names {
            values[at + 1 + index] = Value::ABSENT;
        }
        self.stack.frames.push(Frame::code(id, message, block, holder, target, at));
        self.stack.depth += 1;
        None
    }

    /// A write whose site does not know the receiver's shape.
    pub(super) fn write_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let target = self.stack.values[base + instruction.b as usize];
        let value = self.stack.values[base + instruction.c as usize];
        let updates = instruction.op == Op::UpdateSlot;
        let method = if updates { self.names.update_slot } else { self.names.set_slot };
        let Some(handle) = target.as_handle() else { return Some(self.leave_code()) };
        let is_symbol = self.heap.object(handle).has(flag::SYMBOL);
        let (found, steps) = if updates { self.heap.find_counted(handle, site.name) } else { (None, 0) };
        let is_locals = self.heap.kind(handle) == ObjectKind::Locals;
        if is_long_way(steps)
            || !self.means_built_in(target, method)
            || is_symbol
            || self.has_meaning(handle, site.name)
        {
            return Some(self.leave_code());
        }
        if updates && found.is_none() {
            return match is_locals {
                true => self.update_beyond(site.name, target, value),
                false => Some(self.leave_code()),
            };
        }
        let (shape, epoch) = (self.heap.shape(handle), self.heap.epoch());
        match self.heap.own_slot_index(handle, site.name) {
            Some(index) => site.learn(shape, epoch, Known::Own, index as u32, handle),
            None => {
                // A shape that is not shared is renewed by the write itself: there is nothing to remember.
                if let Some(next) = self.heap.shape_with_slot(shape, site.name) {
                    site.learn(shape, epoch, Known::Adds, 0, handle);
                    site.next.set(next);
                }
            }
        }
        self.put_slot(handle, site.name, value);
        None
    }

    /// `name = value` for a name that is no local.
    pub(super) fn update_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let target = self.stack.values[base];
        let value = self.stack.values[base + instruction.c as usize];
        self.update_beyond(site.name, target, value)
    }

    /// Updates a slot of what locals stand for.
    fn update_beyond(&mut self, name: Symbol, target: Value, value: Value) -> Option<Outcome> {
        let mut scopes = Scopes::from(target);
        let mut looked_at = 0u32;
        while let Some(handle) = scopes.here.as_handle()
            && self.heap.kind(handle) == ObjectKind::Locals
        {
            let (place, steps) = self.heap.find_counted(handle, name);
            looked_at = looked_at.saturating_add(steps);
            if place.is_some() {
                break;
            }
            if !scopes.advance(self) {
                return Some(self.leave_code());
            }
        }
        let target = scopes.here;
        let Some(handle) = target.as_handle() else { return Some(self.leave_code()) };
        let (place, steps) = self.heap.find_counted(handle, name);
        let is_found = place.is_some() && !is_long_way(looked_at.saturating_add(steps));
        let is_refused = self.heap.object(handle).has(flag::SYMBOL) || self.has_meaning(handle, name);
        if !is_found || is_refused || !self.means_built_in(target, self.names.update_slot) {
            return Some(self.leave_code());
        }
        self.put_slot(handle, name, value);
        None
    }

    /// Gives a loop's variable its value.
    pub(super) fn bind_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let value = self.stack.values[base + instruction.c as usize];
        let handle = self.stack.values[base].as_handle()?;
        self.put_slot(handle, site.name, value);
        if let Some(index) = self.heap.own_slot_index(handle, site.name).filter(|_| !self.has_built_ins(handle)) {
            site.learn(self.heap.shape(handle), self.heap.epoch(), Known::Own, index as u32, handle);
        }
        None
    }

    /// Looks again whether a receiver, or the context, means what was built in.
    pub(super) fn guard_from_code(&mut self, instruction: Instruction) -> Option<Outcome> {
        let (unit, base) = (self.running_unit(), self.top().base as usize);
        let site = &unit.sites[instruction.x as usize];
        let receiver = self.stack.values[base + instruction.b as usize];
        if !self.means_built_in(receiver, site.name) {
            return Some(self.leave_code());
        }
        self.stack.values[base + instruction.a as usize] = receiver;
        let handle = self.handle_of(receiver);
        site.learn(self.heap.shape(handle), self.heap.epoch(), Known::Own, 0, handle);
        None
    }

    /// Whether writing this slot may change what code has built in: then the tree writes it, and all code is left.
    #[inline]
    pub(crate) fn has_meaning(&self, handle: Handle, name: Symbol) -> bool {
        self.has_built_ins(handle) || name == self.names.set_slot || name == self.names.update_slot
    }

    /// Objects whose slots code may have built in: writing them takes the long way.
    #[inline]
    pub(crate) fn has_built_ins(&self, handle: Handle) -> bool {
        handle == self.protos.locals || handle == self.protos.number || handle == self.protos.list
    }

    #[cold]
    pub(crate) fn raise_too_deep(&mut self) -> Signal {
        let limit = self.limits.depth;
        let text = format!("calls nested too deeply: the depth limit is {limit}");
        self.raise_problem(text, crate::problem::DEPTH, "")
    }
}
