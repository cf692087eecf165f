//! Leaving compiled code: a frame becomes the tree frames that it stands for, with its locals as an object.

use super::state::{Context, Source, State};
use super::{Scope, Unit};
use crate::block::Activation;
use crate::machine::evaluate::Found;
use crate::machine::frame::{Frame, Kind, Phase, frame_flag};
use crate::message;
use crate::primitives::Role;
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind as ObjectKind, Value};

impl Vm {
    /// The frame on top leaves the code at the instruction just taken, which the tree does instead.
    pub(super) fn leave_code(&mut self) -> Outcome {
        self.step_back();
        self.leave_unpaid()
    }

    /// The instruction just taken is the next one again; its fuel is given back.
    pub(super) fn step_back(&mut self) {
        let unit = self.running_unit();
        if let Phase::Step(place) = &mut self.top().phase {
            *place -= 1;
            let at = *place as usize;
            self.tank.slice += i64::from(unit.owed_at[at + 1] - unit.owed_at[at]);
        }
    }

    /// The frame on top leaves the code at the instruction that is next, whose fuel was not taken.
    pub(super) fn leave_unpaid(&mut self) -> Outcome {
        let index = self.stack.frames.len() - 1;
        match self.leave_frame(index, false) {
            Some(value) => Ok(value),
            None => Err(Signal::Entered),
        }
    }

    /// The frame on top leaves the code at the message it sent, whose answer comes next.
    pub(crate) fn leave_waiting(&mut self) {
        let index = self.stack.frames.len() - 1;
        self.leave_frame(index, true);
    }

    /// As leave_code; the message was sent to something the code did not expect, so next time it is a plain send.
    pub(super) fn leave_surprised(&mut self) -> Outcome {
        let (unit, id) = (self.running_unit(), self.top().unit);
        let Phase::Step(place) = self.top().phase else { return Err(Signal::Entered) };
        self.units.surprises.insert(unit.messages_at[place as usize - 1]);
        let outcome = self.leave_code();
        self.discard_unit(id);
        outcome
    }

    /// Makes every frame of this stack leave a unit.
    pub(super) fn leave_unit(&mut self, id: u32) {
        for index in (0..self.stack.frames.len()).rev() {
            let frame = &self.stack.frames[index];
            if frame.kind == Kind::Code && frame.unit == id {
                self.leave_frame(index, true);
            }
        }
    }

    /// Makes every frame of this stack leave its code: before it is suspended or looked at.
    pub(crate) fn leave_all(&mut self) {
        for index in (0..self.stack.frames.len()).rev() {
            if self.stack.frames[index].kind == Kind::Code {
                self.leave_frame(index, true);
            }
        }
    }

    /// Between two messages of the tree, with every code frame waiting.
    #[cold]
    pub(crate) fn leave_if_stressed(&mut self) {
        if self.units.stressed {
            self.leave_recent();
        }
    }

    /// As leave_all, where it was done one portion of fuel ago: a message pushes a few frames only, and what lies
    /// deeper has left. A deep stack would make each time slow otherwise.
    pub(super) fn leave_recent(&mut self) {
        let pushed = (self.tank.portion as usize).saturating_mul(8).saturating_add(64);
        for index in (self.stack.frames.len().saturating_sub(pushed)..self.stack.frames.len()).rev() {
            if self.stack.frames[index].kind == Kind::Code {
                self.leave_frame(index, true);
            }
        }
    }

    /// The messages that a waiting code frame is in the middle of, innermost first: those of the chains it stands for.
    pub(crate) fn code_messages(&self, unit: u32, place: u32) -> Vec<Handle> {
        let (Some(unit), Some(place)) = (self.units.get(unit), (place as usize).checked_sub(1)) else {
            return Vec::new();
        };
        let message_of = |context: &Context| match context {
            Context::Ready { message, .. } | Context::Argument { message, .. } | Context::Result { message } => {
                Some(*message)
            }
            Context::Native { .. } | Context::Deliver { .. } => None,
        };
        let mut contexts = contexts_of(unit, place, true);
        if unit.scope == Scope::Message {
            // That is the chain beneath.
            contexts.pop();
        }
        contexts.iter().filter_map(message_of).collect()
    }

    /// The locals of the code frame on top, which waits for a callee, as an object: it leaves its code if need be.
    pub(super) fn reify_top(&mut self) -> Value {
        if self.top().locals.is_absent() {
            self.leave_waiting();
        }
        self.top().locals
    }

    /// The call of an activation that waits for a callee; it leaves its code if need be.
    pub(crate) fn reify_call(&mut self, index: usize) -> Handle {
        if self.stack.frames[index].kind == Kind::Code {
            self.leave_frame(index, true);
        }
        self.stack.frames[index].block
    }

    pub(super) fn is_running(&self, id: u32) -> bool {
        self.stack.frames.iter().any(|frame| frame.kind == Kind::Code && frame.unit == id)
    }

    /// Replaces a code frame. One that waits for a callee stands at the message it sent; the others at their next
    /// instruction. Answers the value that was on its way to the innermost frame, if there is one.
    fn leave_frame(&mut self, index: usize, waits: bool) -> Option<Value> {
        let frame = self.stack.frames[index];
        let unit = self.units.get(frame.unit).expect("a frame's unit lives as long as it").clone();
        let Phase::Step(place) = frame.phase else { return None };
        // Who has not begun waits for nothing.
        let waits = waits && place > 0;
        let place = place as usize - waits as usize;
        let mut contexts = contexts_of(&unit, place, waits);
        if unit.scope == Scope::Message {
            self.leave_to_chain(contexts.pop(), index);
        }
        let call = if frame.is_activation() { self.call_of(&frame, index) } else { frame.block };
        let locals = if frame.is_activation() { self.locals_of(&unit, &frame, call) } else { frame.locals };
        let mut made: Vec<Frame> = Vec::with_capacity(contexts.len());
        let mut values: Vec<Value> = Vec::new();
        let mut delivered = None;
        for context in contexts.iter().rev() {
            let base = frame.base as usize + values.len();
            match self.frame_of(context, &frame, locals, base, &mut values) {
                Ok(each) => made.push(each),
                Err(value) => delivered = Some(value),
            }
        }
        if let Some(outermost) = made.first_mut().filter(|_| frame.is_activation()) {
            outermost.flags = frame_flag::ACTIVATION;
            outermost.block = call;
        }
        self.put_values(&frame, index, values, waits);
        self.stack.frames.splice(index..=index, made);
        delivered
    }

    /// The outermost context of a single message is the chain that waits beneath. If the message had not begun, the
    /// chain sends it again, and this time the tree evaluates it.
    fn leave_to_chain(&mut self, context: Option<Context>, index: usize) {
        if let (Some(Context::Ready { message, .. }), Some(beneath)) = (context, index.checked_sub(1)) {
            self.stack.frames[beneath].phase = Phase::Ready;
            self.tank.slice += 1;
            self.refuse_in_context(message);
        }
    }

    /// The values of the new frames take the place of the registers; what lies above stays where it is.
    fn put_values(&mut self, frame: &Frame, index: usize, values: Vec<Value>, waits: bool) {
        let base = frame.base as usize;
        if !waits && index + 1 == self.stack.frames.len() {
            self.stack.values.truncate(base);
            self.stack.values.extend(values);
            return;
        }
        let limit = self.stack.frames.get(index + 1).map_or(self.stack.values.len(), |above| above.base as usize);
        assert!(base + values.len() <= limit, "a frame's registers have room for its contexts");
        self.stack.values[base..base + values.len()].copy_from_slice(&values);
    }

    fn locals_of(&mut self, unit: &Unit, frame: &Frame, call: Handle) -> Value {
        let base = frame.base as usize;
        let locals = self.heap.clone_of(self.protos.locals, ObjectKind::Locals, Data::None);
        self.heap.set_slot(locals, self.names.self_, self.stack.values[base]);
        self.heap.set_slot(locals, self.names.call, Value::object(call));
        for (index, &name) in unit.names.iter().enumerate() {
            let value = self.stack.values[base + 1 + index];
            if !value.is_absent() {
                self.heap.set_slot(locals, name, value);
            }
        }
        Value::object(locals)
    }

    /// The call of an activation that had none so far.
    fn call_of(&mut self, frame: &Frame, index: usize) -> Handle {
        let beneath = index.checked_sub(1).map(|beneath| self.stack.frames[beneath]);
        let sender = match beneath {
            Some(beneath) if beneath.kind == Kind::Code && beneath.locals.is_absent() => Value::ABSENT,
            Some(beneath) => beneath.locals,
            None => Value::NIL,
        };
        let Frame { block, target, message, holder, .. } = *frame;
        self.new_call(Activation { block, target, message, holder }, sender)
    }

    /// The sender of a call that was made without one: the locals of the frame beneath, which leaves its code now.
    pub(crate) fn find_sender(&mut self, call: Handle) -> Value {
        let owner = self.stack.frames.iter().rposition(|frame| frame.is_activation() && frame.block == call);
        let Some(beneath) = owner.and_then(|index| index.checked_sub(1)) else { return Value::NIL };
        if self.stack.frames[beneath].kind == Kind::Code && self.stack.frames[beneath].locals.is_absent() {
            self.leave_frame(beneath, true);
        }
        let owner = self.stack.frames.iter().rposition(|frame| frame.is_activation() && frame.block == call);
        let sender = owner.map_or(Value::NIL, |index| self.stack.frames[index - 1].locals);
        self.heap.record_set(call, crate::block::call::SENDER, sender);
        sender
    }

    /// What a message led to when its arguments began to be gathered.
    fn found_for(&mut self, message: Handle, target: Value, callee: Option<Value>) -> Option<Found> {
        let name = message::name(&self.heap, message);
        match callee {
            None => self.built_in_for(target, name).or_else(|| self.look_up(target, name)),
            Some(value) => Some(Found { value, holder: self.holder_of_callee(target, name, value), target }),
        }
    }

    /// What code took an assignment for, whatever happened to the receiver's protos since.
    fn built_in_for(&mut self, target: Value, name: Handle) -> Option<Found> {
        let primitive = match name {
            name if name == self.names.set_slot => self.protos.set_slot,
            name if name == self.names.update_slot => self.protos.update_slot,
            _ => return None,
        };
        let found = self.look_up(target, name);
        let is_built_in = |found: &Found| found.value.as_handle().is_some_and(|callee| self.is_built_in(callee, name));
        let known = Found { value: Value::object(primitive), holder: self.protos.object, target };
        Some(found.filter(is_built_in).unwrap_or(known))
    }

    /// Whether a callee is `Block call`, sent to a block.
    fn calls_block(&self, callee: Handle, target: Value) -> bool {
        matches!(self.role_of(callee), Role::CallsBlock) && self.kind_of(target) == ObjectKind::Block
    }

    /// The tree frame of a context, its values appended; or the value that is on its way.
    fn frame_of(
        &mut self,
        context: &Context,
        code: &Frame,
        locals: Value,
        base: usize,
        values: &mut Vec<Value>,
    ) -> Result<Frame, Value> {
        let registers = code.base as usize;
        let value_of = |vm: &Vm, source: &Source| match source {
            Source::Register(register) => vm.stack.values[registers + *register as usize],
            Source::Constant(value) => *value,
            Source::Locals => locals,
        };
        Ok(match context {
            Context::Deliver { value } => return Err(value_of(self, value)),
            Context::Ready { message, target } => {
                let target = value_of(self, target);
                let mut frame = Frame::chain(*message, locals, locals, base);
                frame.target = target;
                frame
            }
            Context::Result { message } => {
                let mut frame = Frame::chain(*message, locals, locals, base);
                frame.phase = Phase::Result;
                frame
            }
            Context::Native { native, message, step, target, values: state } => {
                values.extend(state.iter().map(|source| value_of(self, source).or_nil()));
                let mut frame = Frame::native(*native, *message, value_of(self, target), locals, base);
                frame.phase = Phase::Step(*step);
                frame
            }
            Context::Argument { message, callee, target, done } => {
                let target = value_of(self, target);
                let callee = callee.as_ref().map(|callee| value_of(self, callee));
                let mut frame = Frame::chain(*message, locals, locals, base);
                frame.target = target;
                if let Some(found) = self.found_for(*message, target, callee)
                    && let Some(callee) = found.value.as_handle()
                    && self.calls_block(callee, found.target)
                {
                    // As `Block call` does it: the block is what is called, with the sender for its target.
                    frame.phase = Phase::Argument;
                    frame.callee = self.handle_of(found.target);
                    frame.holder = self.handle_of(locals);
                    values.push(locals);
                    values.extend(done.iter().map(|source| value_of(self, source)));
                } else if let Some(found) = self.found_for(*message, target, callee)
                    && let Some(callee) = found.value.as_handle()
                {
                    frame.phase = Phase::Argument;
                    frame.callee = callee;
                    frame.holder = found.holder;
                    values.push(found.target);
                    values.extend(done.iter().map(|source| value_of(self, source)));
                }
                frame
            }
        })
    }
}

/// The contexts of a place, innermost first: before its instruction, or waiting for what it called.
fn contexts_of(unit: &Unit, place: usize, waits: bool) -> Vec<Context> {
    let mut contexts = Vec::new();
    let mut next = Some(if waits { unit.waits_at[place] } else { unit.states_at[place] });
    while let Some(id) = next {
        let State { context, parent } = &unit.states[id.0 as usize];
        contexts.push(context.clone());
        next = *parent;
    }
    contexts
}
