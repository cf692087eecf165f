//! The way out: stops, exceptions and halts pass the frames that they end. Owns who catches what.

use super::frame::{Frame, Kind, Native, Phase, frame_flag};
use crate::block::call;
use crate::message;
use crate::primitives::{Args, Role, step_stop};
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use object::{Handle, Value};

/// An exception keeps this many of the innermost messages.
const STACK_MESSAGES_MAX: usize = 64;

impl Vm {
    /// Ends frames until one catches the stop.
    pub(crate) fn unwind_stop(&mut self, stop: Stop, value: Value) -> Outcome {
        loop {
            let Some(frame) = self.stack.frames.last().copied() else { return Ok(value) };
            match frame.kind {
                Kind::Host => return Ok(value),
                Kind::Code => self.leave_all(),
                Kind::Chain if frame.is_activation() => {
                    self.pop_frame();
                    if frame.flags & super::frame::frame_flag::PASSES_STOPS == 0 {
                        return self.end_activation(&frame, value);
                    }
                }
                Kind::Chain => {
                    self.finish_assignment(&frame, value);
                    self.pop_frame();
                }
                Kind::Native(native) => {
                    if let Some(outcome) = step_stop(self, native, stop, value) {
                        return outcome;
                    }
                    self.clean_up(&frame);
                    self.pop_frame();
                }
            }
        }
    }

    /// `r := foo` where `foo` stops still assigns the value that the stop carries.
    fn finish_assignment(&mut self, frame: &Frame, value: Value) {
        if frame.phase != Phase::Argument || !matches!(self.role_of(frame.callee), Role::Assigns) {
            return;
        }
        let at = frame.base as usize + 1;
        let done = self.stack.values.len() - at;
        if done + 1 == message::argument_count(&self.heap, frame.message) {
            self.stack.values.push(value);
            let args = Args {
                target: self.stack.values[at - 1],
                at,
                count: done + 1,
                message: frame.message,
                locals: frame.locals,
                holder: frame.holder,
            };
            // The stop goes on whether or not the assignment could be made.
            let _ = self.call_with_arguments(frame.callee, args);
        }
    }

    /// Ends frames until one catches the exception. None if it reached the embedder.
    pub(crate) fn unwind_raise(&mut self, exception: Value) -> Option<Outcome> {
        loop {
            let frame = self.stack.frames.last().copied()?;
            self.clean_up(&frame);
            match frame.kind {
                Kind::Host => {
                    self.pop_frame();
                    return None;
                }
                Kind::Native(Native::Try) => {
                    self.pop_frame();
                    return Some(Ok(exception));
                }
                Kind::Native(Native::Coroutine) => {
                    self.heap.set_slot(self.current, self.names.exception, exception);
                    self.leave_unhandled(exception);
                    return Some(self.finish_coroutine(Value::NIL));
                }
                _ => {
                    self.pop_frame();
                }
            }
        }
    }

    /// What a frame promised to undo when it ends.
    fn clean_up(&mut self, frame: &Frame) {
        match frame.kind {
            Kind::Native(Native::LexicalDo) => crate::primitives::end_lexical_do(self, frame),
            Kind::Native(Native::Transaction | Native::World) => crate::primitives::take_back(self),
            Kind::Native(Native::UnderWay) => crate::primitives::end_under_way(self, frame),
            _ => {}
        }
    }

    /// Gives up everything that runs. What the program wrote stays; coroutines that waited still wait.
    pub(crate) fn abandon(&mut self) {
        while let Some(frame) = self.stack.frames.last().copied() {
            self.clean_up(&frame);
            self.pop_frame();
        }
        if self.current != self.main {
            self.mark_finished(self.current);
            self.current = self.main;
            if let Some(mut stack) = self.take_stack(self.main) {
                stack.frames.clear();
                stack.values.clear();
                stack.under_way.clear();
                stack.depth = 0;
                self.stack = stack;
            }
        }
    }

    /// The innermost messages under way.
    pub(crate) fn stack_messages(&self) -> Vec<Value> {
        self.messages_under_way().take(STACK_MESSAGES_MAX).map(Value::object).collect()
    }

    /// The messages under way, innermost first, but for the library's own way of raising, which is nobody's mistake.
    pub(crate) fn messages_under_way(&self) -> impl Iterator<Item = Handle> {
        let frames = &self.stack.frames;
        let messages_of = move |index: usize| {
            let mut messages = match (frames[index].kind, frames[index].phase) {
                (Kind::Code, Phase::Step(place)) => self.code_messages(frames[index].unit, place),
                (Kind::Chain, _) => vec![frames[index].message],
                _ => Vec::new(),
            };
            // A chain of one message stands for the innermost of the frame beneath it.
            if frames.get(index + 1).is_some_and(|above| above.flags & frame_flag::SINGLE != 0) {
                messages.drain(..messages.len().min(1));
            }
            messages
        };
        let messages = (0..frames.len()).rev().flat_map(messages_of);
        messages.skip_while(|&each| self.is_raising(each))
    }

    fn is_raising(&self, message: Handle) -> bool {
        self.heap.record(message).get(message::field::LABEL) == Some(&Value::object(self.names.exception_label))
    }

    /// What the running blocks were called with, innermost first: message and receiver in turn.
    pub(crate) fn stack_calls(&mut self) -> Vec<Value> {
        let mut calls = Vec::new();
        let mut index = self.stack.frames.len();
        // What lies beneath may become several frames meanwhile, with the activation as the lowest of them.
        while index > 0 && calls.len() < 2 * STACK_MESSAGES_MAX {
            index -= 1;
            if self.stack.frames[index].is_activation() {
                calls.extend(self.call_at(index));
            }
        }
        calls
    }

    /// Message and receiver of an activation. A block that code called has its sender for its receiver, which becomes
    /// an object now.
    fn call_at(&mut self, index: usize) -> [Value; 2] {
        let frame = self.stack.frames[index];
        if frame.kind == Kind::Code && !frame.target.is_absent() {
            return [Value::object(frame.message), frame.target];
        }
        let made = self.reify_call(index);
        let [message, target] =
            [call::MESSAGE, call::TARGET].map(|field| self.heap.record(made).get(field).copied().unwrap_or(Value::NIL));
        [message, if target.is_absent() { self.find_sender(made) } else { target }]
    }
}

impl From<Stop> for Signal {
    fn from(stop: Stop) -> Signal {
        Signal::Stop(stop, Value::NIL)
    }
}
