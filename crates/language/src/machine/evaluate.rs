//! Walks message chains: literals, lookup, arguments. Owns the order of evaluation and the count of fuel: one for each
//! message, and more for one that is looked up along a long lineage.

use super::frame::{Frame, Kind, Phase, frame_flag};
use super::scopes::Scopes;
use crate::message;
use crate::primitives::{Args, Eagerness};
use crate::signal::{Halt, Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind as ObjectKind, Value, flag};
use std::borrow::Cow;

/// Frames that a stack may have beside two for each block that the depth limit allows.
const FRAMES_MIN: usize = 1_000_000;

/// A lookup may look at so many objects for the fuel of its message; each two more cost one.
const FREE_STEPS: u32 = 32;

/// The locals that a message was sent from, and Locals: the tree looks at them before their `self`, code need not.
const LOCALS_STEPS: u32 = 2;

/// Whether a lookup costs fuel of its own, or would in the tree: code leaves that to the tree, and remembers nothing.
#[inline(always)]
pub(crate) fn is_long_way(steps: u32) -> bool {
    steps + LOCALS_STEPS > FREE_STEPS
}

/// What a name led to.
pub(crate) struct Found {
    pub value: Value,
    /// Who has the slot.
    pub holder: Handle,
    /// Who receives the message: locals hand on to their `self`.
    pub target: Value,
}

/// Names of more characters than this are cut in messages to people.
const NAME_CHARACTERS: usize = 100;

fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME_CHARACTERS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

impl Vm {
    /// Takes the next slice of fuel, looking at interrupts and memory on the way.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuel(&mut self) -> Result<(), Signal> {
        self.refuel_for(1)
    }

    /// Takes as many slices as make up these units, looking at interrupts and memory on the way.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuel_for(&mut self, units: i64) -> Result<(), Signal> {
        self.heap.settle();
        self.check_interrupt()?;
        if !self.tank.refill(units) {
            return Err(Halt::Fuel { limit: self.tank.limit.unwrap_or(0) }.into());
        }
        // Code that evaluates itself without ever calling a block nests frames, too.
        if self.stack.frames.len() > self.limits.depth.saturating_mul(2).saturating_add(FRAMES_MIN) {
            return Err(self.raise_too_deep());
        }
        Ok(())
    }

    /// For primitives that work for long between two charges.
    pub(crate) fn check_interrupt(&mut self) -> Result<(), Signal> {
        if self.interrupt.take() { Err(Halt::Interrupted.into()) } else { Ok(()) }
    }

    /// The fuel of one message that a chain is about to send.
    #[inline(always)]
    fn charge_message(&mut self) -> Result<(), Signal> {
        if cfg!(feature = "no_fuel") {
            return Ok(());
        }
        if self.tank.slice <= 0 {
            self.refuel()?;
            self.leave_if_stressed();
        }
        self.tank.slice -= 1;
        Ok(())
    }

    /// Semicolons cost nothing, but for those in a row: a program can make one follow itself.
    #[inline(always)]
    fn charge_semicolon(&mut self, message: Handle) -> Result<(), Signal> {
        match message::next(&self.heap, message) {
            Some(next) if message::name(&self.heap, next) == self.names.semicolon => self.charge_message(),
            _ => Ok(()),
        }
    }

    /// Collects if it is time to. Only between messages: a primitive's values are not known to the collector.
    #[inline(always)]
    pub(crate) fn safepoint(&mut self) -> Result<(), Signal> {
        if self.heap.collection_due() || self.over_memory() {
            self.collect_or_halt()?;
        }
        Ok(())
    }

    #[inline(always)]
    fn over_memory(&self) -> bool {
        matches!(self.limits.memory_bytes, Some(limit) if self.used_bytes() > limit)
    }

    /// What counts against the memory limit: objects, the stack that runs, and what is kept of patterns.
    pub(crate) fn used_bytes(&self) -> u64 {
        (self.heap.usage().counted_bytes() + self.stack.logical_bytes() + self.regexes.bytes()) as u64
    }

    #[cold]
    #[inline(never)]
    fn collect_or_halt(&mut self) -> Result<(), Signal> {
        self.collect();
        self.check_memory(0)
    }

    pub(crate) fn check_memory(&self, more_bytes: usize) -> Result<(), Signal> {
        let used_bytes = self.used_bytes().saturating_add(more_bytes as u64);
        match self.limits.memory_bytes {
            Some(limit_bytes) if used_bytes > limit_bytes => Err(Halt::Memory { used_bytes, limit_bytes }.into()),
            _ => Ok(()),
        }
    }

    /// Goes on with the frame on top, which is ready.
    pub(crate) fn advance(&mut self) -> Outcome {
        loop {
            let frame = self.top();
            match frame.kind {
                Kind::Native(native) => return self.step(native, Value::ABSENT),
                Kind::Code => return self.run_code(),
                // Left its code with all arguments at hand.
                Kind::Chain if frame.phase == Phase::Argument => return self.continue_arguments(),
                _ => {}
            }
            let (message, target, locals) = (frame.message, frame.target, frame.locals);
            self.safepoint()?;
            let value = if let Some(literal) = message::literal(&self.heap, message) {
                self.charge_message()?;
                literal
            } else if message::name(&self.heap, message) == self.names.semicolon {
                self.charge_semicolon(message)?;
                self.top().start
            } else {
                self.charge_message()?;
                match self.begin_send(message, target, locals) {
                    Ok(value) => {
                        let base = self.top().base as usize;
                        self.stack.values.truncate(base);
                        value
                    }
                    Err(signal) => return Err(signal),
                }
            };
            match message::next(&self.heap, message) {
                Some(next) if self.top().flags & frame_flag::SINGLE == 0 => {
                    let frame = self.top();
                    frame.target = value;
                    frame.message = next;
                    frame.phase = Phase::Ready;
                }
                _ => return self.finish_chain(value),
            }
        }
    }

    /// The present message has its value: on to the next.
    #[inline]
    pub(crate) fn proceed(&mut self, value: Value) -> Outcome {
        let frame = self.stack.frames.last_mut().expect("a running machine has a frame");
        self.stack.values.truncate(frame.base as usize);
        match message::next(&self.heap, frame.message) {
            Some(next) if frame.flags & frame_flag::SINGLE == 0 => {
                frame.target = value;
                frame.message = next;
                frame.phase = Phase::Ready;
                Err(Signal::Entered)
            }
            _ => self.finish_chain(value),
        }
    }

    #[inline]
    fn finish_chain(&mut self, value: Value) -> Outcome {
        let frame = self.pop_frame();
        if frame.is_activation() { self.end_activation(&frame, value) } else { Ok(value) }
    }

    /// Sends the present message of the chain on top.
    fn begin_send(&mut self, message: Handle, target: Value, locals: Value) -> Outcome {
        let name = message::name(&self.heap, message);
        let Some(found) = self.look_up_paid(target, name)? else { return self.not_found(message, target, locals) };
        self.use_found(found, message, locals)
    }

    /// Does with what was found what its kind asks for: activates it, or is it.
    pub(crate) fn use_found(&mut self, found: Found, message: Handle, locals: Value) -> Outcome {
        let Some(callee) = found.value.as_handle() else { return Ok(found.value) };
        let object = self.heap.object(callee);
        if !object.has(flag::ACTIVATABLE) {
            return Ok(found.value);
        }
        match (object.kind(), object.data()) {
            (ObjectKind::Primitive, Data::Primitive(index)) => {
                let primitive = &self.primitives[*index as usize];
                match primitive.eagerness {
                    Eagerness::Lazy => {
                        let function = primitive.function.clone();
                        let at = self.stack.values.len();
                        self.top().phase = Phase::Result;
                        let holder = found.holder;
                        function.call(self, Args { target: found.target, at, count: 0, message, locals, holder })
                    }
                    eager => self.begin_arguments(found, callee, message, eager.most()),
                }
            }
            (ObjectKind::Block, Data::Record(fields)) => {
                let most = fields.len().saturating_sub(crate::block::field::ARGUMENT_NAMES);
                self.begin_arguments(found, callee, message, most)
            }
            (ObjectKind::Message, _) => {
                self.top().phase = Phase::Result;
                self.push_chain(callee, found.target, found.target);
                Err(Signal::Entered)
            }
            _ => self.activate_by_slot(found, callee, message, locals),
        }
    }

    /// Activates a block or primitive whether or not it is flagged to be.
    pub(crate) fn use_found_forced(&mut self, found: Found, callee: Handle, message: Handle) -> Outcome {
        let most = self.most_arguments(callee);
        self.begin_arguments(found, callee, message, most)
    }

    /// An activatable object of no special kind answers with its `activate` slot, which may hold another such object, and
    /// so on: a circle of them uses up the fuel, and not the stack.
    fn activate_by_slot(&mut self, mut found: Found, callee: Handle, message: Handle, locals: Value) -> Outcome {
        let mut next = callee;
        loop {
            let (place, steps) = self.heap.find_counted(next, self.names.activate);
            self.charge_steps(steps)?;
            let Some(place) = place else { return Ok(found.value) };
            let value = self.heap.value_at(place);
            found = Found { value, holder: place.holder, target: found.target };
            match value.as_handle().filter(|&handle| self.is_activated_by_slot(handle)) {
                Some(handle) => next = handle,
                None => return self.use_found(found, message, locals),
            }
            self.charge(1)?;
        }
    }

    /// Whether nothing but its `activate` slot says what becomes of it.
    fn is_activated_by_slot(&self, handle: Handle) -> bool {
        let object = self.heap.object(handle);
        object.has(flag::ACTIVATABLE)
            && !matches!(
                (object.kind(), object.data()),
                (ObjectKind::Primitive, Data::Primitive(_))
                    | (ObjectKind::Block, Data::Record(_))
                    | (ObjectKind::Message, _)
            )
    }

    #[inline]
    fn begin_arguments(&mut self, found: Found, callee: Handle, message: Handle, most: usize) -> Outcome {
        let frame = self.stack.frames.last_mut().expect("a running machine has a frame");
        frame.callee = callee;
        frame.holder = found.holder;
        frame.phase = Phase::Argument;
        self.stack.values.truncate(frame.base as usize);
        self.stack.values.push(found.target);
        let wanted = most.min(message::argument_count(&self.heap, message));
        self.gather_arguments(wanted)
    }

    /// An argument's value was pushed: on to the next, or to the call.
    pub(crate) fn continue_arguments(&mut self) -> Outcome {
        let Frame { callee, message, .. } = *self.top();
        let most = self.most_arguments(callee);
        let wanted = most.min(message::argument_count(&self.heap, message));
        match self.gather_arguments(wanted) {
            Ok(value) => self.proceed(value),
            Err(signal) => Err(signal),
        }
    }

    fn most_arguments(&self, callee: Handle) -> usize {
        match self.heap.object(callee).data() {
            Data::Primitive(index) => self.primitives[*index as usize].eagerness.most(),
            Data::Record(fields) => fields.len().saturating_sub(crate::block::field::ARGUMENT_NAMES),
            _ => 0,
        }
    }

    /// Evaluates arguments until `wanted` values lie behind the target, then calls.
    fn gather_arguments(&mut self, wanted: usize) -> Outcome {
        loop {
            let frame = *self.top();
            let done = self.stack.values.len() - frame.base as usize - 1;
            if done >= wanted {
                return self.invoke(frame);
            }
            let Some(argument) = message::argument(&self.heap, frame.message, done) else {
                return self.invoke(frame);
            };
            // A lone literal needs no frame.
            match message::literal(&self.heap, argument) {
                Some(value) if message::next(&self.heap, argument).is_none() => {
                    self.charge(1)?;
                    self.stack.values.push(value);
                }
                _ => {
                    self.push_chain(argument, frame.locals, frame.locals);
                    return Err(Signal::Entered);
                }
            }
        }
    }

    #[inline]
    fn invoke(&mut self, frame: Frame) -> Outcome {
        self.top().phase = Phase::Result;
        let at = frame.base as usize + 1;
        let count = self.stack.values.len() - at;
        let target = self.stack.values[at - 1];
        let (message, locals, holder) = (frame.message, frame.locals, frame.holder);
        let args = Args { target, at, count, message, locals, holder };
        self.call_with_arguments(frame.callee, args)
    }

    // ---- lookup

    /// What `name` leads to from `target`. Locals hand on to their `self`, so that a method sees its receiver's slots.
    #[inline]
    pub(crate) fn look_up(&mut self, target: Value, name: Handle) -> Option<Found> {
        self.look_up_counted(target, name).0
    }

    /// The same, and how many objects a lookup without caches looks at.
    #[inline]
    pub(crate) fn look_up_counted(&mut self, target: Value, name: Handle) -> (Option<Found>, u32) {
        let mut scopes = Scopes::from(target);
        let mut looked_at = 0u32;
        loop {
            let target = scopes.here;
            let (place, steps) = self.heap.find_counted(self.handle_of(target), name);
            looked_at = looked_at.saturating_add(steps);
            if let Some(place) = place {
                let found = Found { value: self.heap.value_at(place), holder: place.holder, target };
                return (Some(found), looked_at);
            }
            if !scopes.advance_from_locals(self) {
                return (None, looked_at);
            }
        }
    }

    /// The same for a program, which pays for a long way.
    #[inline]
    pub(crate) fn look_up_paid(&mut self, target: Value, name: Handle) -> Result<Option<Found>, Signal> {
        let (found, steps) = self.look_up_counted(target, name);
        self.charge_steps(steps)?;
        Ok(found)
    }

    /// Charges for what a lookup looked at.
    #[inline(always)]
    pub(crate) fn charge_steps(&mut self, steps: u32) -> Result<(), Signal> {
        if steps <= FREE_STEPS { Ok(()) } else { self.charge((steps - FREE_STEPS).div_ceil(2) as usize) }
    }

    /// No slot has the message's name: `forward`, or an exception.
    #[cold]
    fn not_found(&mut self, message: Handle, target: Value, locals: Value) -> Outcome {
        // Locals are skipped to what they stand for, as lookup did.
        let mut scopes = Scopes::from(target);
        while scopes.advance_from_locals(self) {}
        let target = scopes.here;
        match self.look_up_paid(target, self.names.forward)? {
            Some(found) => self.use_found(found, message, locals),
            None => Err(self.raise_not_found(message, target)),
        }
    }

    pub(crate) fn raise_not_found(&mut self, message: Handle, target: Value) -> Signal {
        let symbol = message::name(&self.heap, message);
        let name = shortened(&self.heap.symbol_text(symbol)).into_owned();
        let text = format!("{} does not respond to '{name}'", self.type_name(target));
        self.raise_with(text, &[("unknownMessage", Value::object(symbol)), ("unknownTarget", target)])
    }
}
