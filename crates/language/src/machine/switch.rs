//! Coroutines: leaving one stack for another. Owns where a coroutine goes when it ends.

use super::frame::{Frame, Kind as FrameKind, Native, Stack, Suspended};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Handle, Kind, Value};

/// What a coroutine counts for in the depth of those that it starts: about as many calls need as much memory.
const COROUTINE_DEPTH: usize = 4;

/// A coroutine begins only if that many calls are left to it.
const CALLS_MIN: usize = 1000;

impl Vm {
    /// Leaves the running coroutine as it is and goes on in another.
    pub(crate) fn switch_to(&mut self, coroutine: Handle, value: Value) -> Outcome {
        if coroutine == self.current {
            return Ok(value);
        }
        if self.open_levels > 0 {
            return Err(self.raise("a coroutine cannot be left inside of a transaction or world"));
        }
        // A coroutine that became something else has no place for its stack.
        if !self.stack.frames.is_empty() && self.heap.foreign::<Suspended>(self.current).is_none() {
            return Err(self.raise("the running coroutine has become something else, and cannot be left"));
        }
        if let Err(damage) = self.check_stack(coroutine) {
            return Err(self.raise(damage.to_string()));
        }
        // What is suspended must be able to outlive the code.
        self.leave_all();
        self.stack.values.compact();
        let stack = std::mem::take(&mut self.stack);
        let stack = if self.saves_stacks { self.through_values(stack) } else { stack };
        let depth = stack.depth;
        self.heap.foreign_edit(self.current, |suspended: &mut Suspended| {
            if !suspended.finished {
                suspended.stack = Some(stack);
            }
        });
        let previous = std::mem::replace(&mut self.current, coroutine);
        match self.take_stack(coroutine) {
            Some(stack) => {
                self.stack = stack;
                Ok(value)
            }
            None => self.begin_coroutine(coroutine, previous, depth),
        }
    }

    /// Starts a coroutine that has not run: its `runMessage`, sent to its `runTarget`. It is as deep as the one that
    /// started it and waits for it: coroutines that start each other are a recursion, and end like one.
    fn begin_coroutine(&mut self, coroutine: Handle, previous: Handle, depth: usize) -> Outcome {
        if self.heap.get_slot(coroutine, self.names.parent_coroutine).is_none_or(|parent| parent.is_nil()) {
            self.heap.set_slot(coroutine, self.names.parent_coroutine, Value::object(previous));
        }
        let mut slot = |name| self.heap.get_slot(coroutine, name).unwrap_or(Value::NIL);
        let (target, locals) = (slot(self.names.run_target), slot(self.names.run_locals));
        let message = slot(self.names.run_message);
        let depth = if self.is_queued(previous) { 0 } else { depth + COROUTINE_DEPTH };
        if depth + CALLS_MIN.min(self.limits.depth / 4) > self.limits.depth {
            // Nobody would hear of it in a coroutine that another started: it ends where it all began.
            self.current = self.main;
            self.stack = self.take_stack(self.main).unwrap_or_default();
            return Err(self.raise_too_deep());
        }
        self.stack = Stack { depth, ..Stack::default() };
        let message = message.as_handle().filter(|&handle| self.heap.kind(handle) == Kind::Message);
        let base = message.unwrap_or(self.protos.message);
        self.stack.frames.push(Frame::native(Native::Coroutine, base, Value::object(coroutine), locals, 0));
        match message {
            Some(message) => {
                self.push_chain(message, target, locals);
                Err(Signal::Entered)
            }
            None => Ok(Value::NIL),
        }
    }

    /// The running coroutine ended: go on in the nearest ancestor that has not.
    pub(crate) fn finish_coroutine(&mut self, value: Value) -> Outcome {
        let coroutine = self.current;
        self.heap.set_slot(coroutine, self.names.result, value);
        self.mark_finished(coroutine);
        self.stack = Stack::default();
        let heir = self.waiting_ancestor(coroutine);
        self.leave_queue(heir);
        Err(Signal::Switch(heir, value))
    }

    /// The nearest ancestor that is not finished, or the main coroutine. Those passed over are told of it: each is
    /// started by the one before when many take turns, and nobody should walk that chain twice.
    fn waiting_ancestor(&mut self, coroutine: Handle) -> Handle {
        let mut passed = vec![coroutine];
        let mut seen = rustc_hash::FxHashSet::from_iter([coroutine]);
        let mut ancestor = coroutine;
        let heir = loop {
            let parent = self.heap.get_slot(ancestor, self.names.parent_coroutine).and_then(Value::as_handle);
            ancestor = match parent {
                Some(parent) if self.is_waiting(parent) => break parent,
                // A program may make its coroutines each other's parents.
                Some(parent) if self.heap.kind(parent) == Kind::Coroutine && seen.insert(parent) => parent,
                _ => break self.main,
            };
            passed.push(ancestor);
        };
        passed.pop();
        for each in passed {
            self.heap.set_slot(each, self.names.parent_coroutine, Value::object(heir));
        }
        heir
    }

    /// Takes a coroutine out of the scheduler's queue: it goes on before its turn, and must not do so twice.
    pub(crate) fn leave_queue(&mut self, coroutine: Handle) {
        let Some(queue) = self.waiting_queue() else { return };
        let Some(waiting) = self.heap.list(queue) else { return };
        // Who started another is in front, who yielded at the back: the rest is hardly ever looked at.
        let is_it = |&each: &Value| each == Value::object(coroutine);
        let at = if waiting.first().is_some_and(is_it) { Some(0) } else { waiting.iter().rposition(is_it) };
        if let Some(at) = at {
            self.heap.list_remove(queue, at);
        }
    }

    /// Whether a coroutine has just yielded: then it waits for its turn, not for another's end.
    fn is_queued(&mut self, coroutine: Handle) -> bool {
        self.waiting_queue().and_then(|queue| self.heap.list(queue)?.last()) == Some(&Value::object(coroutine))
    }

    /// The scheduler's queue, if the program has left it one.
    fn waiting_queue(&mut self) -> Option<Handle> {
        let scheduler = self.heap.own_slot(self.protos.core, self.names.scheduler)?.as_handle()?;
        self.heap.own_slot(scheduler, self.names.yielding_coros)?.as_handle()
    }

    fn is_waiting(&self, coroutine: Handle) -> bool {
        let suspended = self.heap.foreign::<Suspended>(coroutine);
        suspended.is_some_and(|suspended| suspended.stack.is_some()) && self.check_stack(coroutine).is_ok()
    }

    /// A stack as it comes back from a file.
    #[cold]
    fn through_values(&self, stack: Stack) -> Stack {
        // One that just ended has none.
        if stack.frames.is_empty() || stack.frames.iter().any(|frame| frame.kind == FrameKind::Host) {
            return stack;
        }
        let saved = Suspended { stack: Some(stack), ..Suspended::default() }.save();
        let restored = Suspended::restore(&saved).expect("what was saved can be restored");
        restored.stack.expect("a suspended one has a stack")
    }

    pub(crate) fn is_finished(&self, coroutine: Handle) -> bool {
        self.heap.foreign::<Suspended>(coroutine).is_some_and(|suspended| suspended.finished)
    }

    pub(crate) fn mark_finished(&mut self, coroutine: Handle) {
        let finished = Suspended { finished: true, ..Suspended::default() };
        self.heap.foreign_edit(coroutine, |suspended: &mut Suspended| *suspended = finished);
    }

    pub(crate) fn take_stack(&mut self, coroutine: Handle) -> Option<Stack> {
        let take = |suspended: &mut Suspended| {
            suspended.is_unchecked = false;
            suspended.stack.take()
        };
        self.heap.foreign_edit(coroutine, take).flatten()
    }
}
