//! The machine: a loop over frames, never a recursion. Owns the flow of values and signals between frames.
//!
//! - `frame`, `values`: what a frame and a stack are
//! - `evaluate`: walks message chains; `scopes`: the way from locals to their `self`
//! - `activate`: what a slot's value does when it is looked up: blocks and primitives
//! - `unwind`: stops, exceptions and halts on their way out
//! - `switch`: coroutines; `saved`: their stacks as plain values, for files
//! - `trace`: where a program that ended was; `unhandled`: exceptions that nobody was there to catch

pub mod activate;
pub mod evaluate;
pub mod frame;
pub mod saved;
pub mod scopes;
pub mod switch;
pub mod trace;
pub mod unhandled;
pub mod unwind;
pub mod values;

use crate::primitives::step;
use crate::signal::{Halt, Outcome, Signal};
use crate::vm::Vm;
use frame::{Frame, Kind, Native, Phase};
use object::{Handle, Value};
use trace::Folded;

/// How a run that the embedder began ended, if not with a value.
#[derive(Clone, Debug)]
pub enum Ended {
    /// An exception that nothing caught.
    Uncaught(Value, Folded),
    Halted(Halt, Folded),
}

impl Vm {
    /// Evaluates a message in a context, from the embedder.
    pub(crate) fn run_message(&mut self, message: Handle, target: Value, locals: Value) -> Result<Value, Ended> {
        if self.stack.frames.is_empty() {
            // Where the memory limit was looked at before is no business of this program.
            self.stack.look_at_depth = 0;
        }
        let base = self.stack.values.len();
        self.stack.frames.push(Frame::host(base));
        self.push_chain(message, target, locals);
        self.run(Err(Signal::Entered))
    }

    /// Goes on until the nearest host frame has its value. That frame must be on the main coroutine's stack.
    pub(crate) fn run(&mut self, first: Outcome) -> Result<Value, Ended> {
        let mut outcome = first;
        loop {
            outcome = match outcome {
                Ok(value) => match self.stack.frames.last().map(|frame| frame.kind) {
                    Some(Kind::Host) => {
                        self.pop_frame();
                        return Ok(value);
                    }
                    Some(_) => self.deliver(value),
                    // The stack that the embedder waits for is gone: its coroutine became something else.
                    None => return Ok(value),
                },
                Err(Signal::Entered) => self.advance(),
                Err(Signal::Stop(stop, value)) => self.unwind_stop(stop, value),
                Err(Signal::Raise(exception)) => {
                    // Once it is unwound, nobody knows any more where it was.
                    let trace = self.trace_of_uncaught(exception);
                    match self.unwind_raise(exception) {
                        Some(outcome) => outcome,
                        None => return Err(Ended::Uncaught(exception, trace)),
                    }
                }
                Err(Signal::Switch(coroutine, value)) => self.switch_to(coroutine, value),
                Err(Signal::Reify) => unreachable!("only compiled code calls a primitive without a sender"),
                Err(Signal::Halt(halt)) => {
                    let trace = self.trace_here();
                    self.abandon();
                    return Err(Ended::Halted(halt, trace));
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn top(&mut self) -> &mut Frame {
        self.stack.frames.last_mut().expect("a running machine has a frame")
    }

    #[inline(always)]
    pub(crate) fn pop_frame(&mut self) -> Frame {
        let frame = self.stack.frames.pop().expect("a running machine has a frame");
        self.stack.values.truncate(frame.base as usize);
        self.stack.depth -= frame.is_activation() as usize;
        frame
    }

    /// Gives a value to the frame that waited for it.
    #[inline]
    fn deliver(&mut self, value: Value) -> Outcome {
        let top = self.top();
        match (top.kind, top.phase) {
            (Kind::Chain, Phase::Argument) => {
                self.stack.values.push(value);
                self.continue_arguments()
            }
            (Kind::Chain, _) => self.proceed(value),
            (Kind::Code, _) if !self.tank.gives_credit() => {
                self.leave_waiting();
                Ok(value)
            }
            (Kind::Code, _) => {
                self.accept(value);
                self.run_code()
            }
            (Kind::Native(native), _) => self.step(native, value),
            (Kind::Host, _) => Ok(value),
        }
    }

    /// Lets a native frame go on with what it waited for.
    #[inline]
    pub(crate) fn step(&mut self, native: Native, value: Value) -> Outcome {
        let value = step(self, native, value)?;
        self.pop_frame();
        Ok(value)
    }

    /// Pushes a chain to be evaluated.
    #[inline]
    pub(crate) fn push_chain(&mut self, message: Handle, target: Value, locals: Value) {
        let base = self.stack.values.len();
        self.stack.frames.push(Frame::chain(message, target, locals, base));
    }
}
