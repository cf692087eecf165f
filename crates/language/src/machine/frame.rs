//! Frames and stacks: where a running program is. Owns their layout.
//!
//! A frame names a message, a position in it and the locals it is evaluated in, all of them objects or plain numbers,
//! so that a suspended stack can be saved and taken up again elsewhere.

use super::values::Values;
use object::{Foreign, Handle, Symbol, Value};
use rustc_hash::FxHashSet;
use std::any::Any;

/// What a frame is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A chain of messages; `message` is the present one, `target` what it is sent to.
    Chain,
    /// A primitive that evaluates messages; its state is on the value stack from `base`.
    Native(Native),
    /// Compiled code; the step is the next instruction.
    Code,
    /// The way back to the embedder.
    Host,
}

/// Where a chain frame stands with its present message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// About to send it.
    Ready,
    /// Evaluating an argument: those done are on the value stack, behind the target.
    Argument,
    /// Waiting for what it activated.
    Result,
    /// A native frame's own count.
    Step(u32),
}

/// Primitives that call back into the program, each a state machine in `primitives`. Files know them by their numbers,
/// so that a new one takes the next; see `saved`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Native {
    If = 1,
    While,
    Loop,
    For,
    Repeat,
    Foreach,
    /// Catches exceptions.
    Try,
    /// Catches stops, and answers which.
    StopStatus,
    LexicalDo,
    EvaluateArguments,
    Write,
    /// Waits, then answers its receiver.
    AnswerTarget,
    /// The bottom of a coroutine's stack.
    Coroutine,
    SortBy,
    AtIfAbsentPut,
    /// Asks arguments for their text, then does what it was for.
    AskTexts,
    Interpolate,
    /// Marks its receiver as one that something is being done with.
    UnderWay,
    /// Waits for a prototype to be imported.
    Import,
    /// Closes a level of the transaction.
    Transaction,
    /// Sets a level of the transaction aside.
    World,
}

/// Single bits of a frame.
pub mod frame_flag {
    /// The frame of a block's body: `return` ends here.
    pub const ACTIVATION: u8 = 1;
    /// An activation that hands stops on to its caller.
    pub const PASSES_STOPS: u8 = 2;
    /// A chain that ends after its present message, whatever follows.
    pub const SINGLE: u8 = 4;
}

#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub kind: Kind,
    pub phase: Phase,
    pub flags: u8,
    /// Index on the value stack of the frame's first value; for a chain in `Argument`, of the target.
    pub base: u32,
    pub message: Handle,
    /// The primitive or block that `message` found, while its arguments are evaluated; nil handle otherwise.
    pub callee: Handle,
    /// The object that has the slot that `callee` came from.
    pub holder: Handle,
    /// In an activation: its call, or for code its block.
    pub block: Handle,
    /// The unit of code.
    pub unit: u32,
    pub target: Value,
    /// What the chain began with, and begins with again after each semicolon.
    pub start: Value,
    pub locals: Value,
}

const NOTHING: Handle = Handle(0);

impl Frame {
    pub fn chain(message: Handle, target: Value, locals: Value, base: usize) -> Frame {
        Frame {
            kind: Kind::Chain,
            phase: Phase::Ready,
            flags: 0,
            base: base as u32,
            message,
            callee: NOTHING,
            holder: NOTHING,
            block: NOTHING,
            unit: 0,
            target,
            start: target,
            locals,
        }
    }

    pub fn native(native: Native, message: Handle, target: Value, locals: Value, base: usize) -> Frame {
        Frame { kind: Kind::Native(native), phase: Phase::Step(0), ..Frame::chain(message, target, locals, base) }
    }

    /// An activation that runs as compiled code.
    #[inline(always)]
    pub fn code(unit: u32, message: Handle, block: Handle, holder: Handle, target: Value, base: usize) -> Frame {
        Frame {
            kind: Kind::Code,
            phase: Phase::Step(0),
            flags: frame_flag::ACTIVATION,
            base: base as u32,
            message,
            callee: NOTHING,
            holder,
            block,
            unit,
            target,
            start: Value::NIL,
            locals: Value::ABSENT,
        }
    }

    /// A chain that is evaluated in an object, as compiled code.
    pub fn code_in_context(unit: u32, message: Handle, target: Value, locals: Value, base: usize) -> Frame {
        Frame { flags: 0, locals, ..Frame::code(unit, message, NOTHING, NOTHING, target, base) }
    }

    pub fn host(base: usize) -> Frame {
        Frame { kind: Kind::Host, ..Frame::chain(NOTHING, Value::NIL, Value::NIL, base) }
    }

    pub fn is_activation(&self) -> bool {
        self.flags & frame_flag::ACTIVATION != 0
    }

    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        for handle in [self.message, self.callee, self.holder, self.block] {
            visit(Value::object(handle));
        }
        for value in [self.target, self.start, self.locals] {
            visit(value);
        }
    }
}

/// The stack of one coroutine.
#[derive(Clone, Default)]
pub struct Stack {
    pub frames: Vec<Frame>,
    pub values: Values,
    /// Block activations on this stack, and on those that wait for it.
    pub depth: usize,
    /// What is being done with which object, by name; each has a frame that says so too.
    pub under_way: FxHashSet<(Handle, Symbol)>,
    /// The depth at which compiled code looks at the memory limit again.
    pub look_at_depth: usize,
}

/// Compiled calls between two looks at the memory limit.
const LOOK_EVERY: usize = 4096;

impl Stack {
    /// What it counts for against the memory limit.
    pub fn logical_bytes(&self) -> usize {
        self.frames.len() * size_of::<Frame>() + self.values.len() * size_of::<Value>()
    }

    /// The memory limit was looked at: not again for a while.
    pub fn looked(&mut self) {
        self.look_at_depth = self.depth + LOOK_EVERY;
    }

    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        self.frames.iter().for_each(|frame| frame.trace(visit));
        self.values.iter().for_each(|&value| visit(value));
    }
}

/// A coroutine that is not running: its stack, or none before it began and after it ended.
#[derive(Clone, Default)]
pub struct Suspended {
    pub stack: Option<Stack>,
    pub finished: bool,
    /// It comes from a file, and nobody has looked yet at the objects that it names.
    pub is_unchecked: bool,
}

impl Foreign for Suspended {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        if let Some(stack) = &self.stack {
            stack.trace(visit);
        }
    }

    fn logical_bytes(&self) -> usize {
        256 + self.stack.as_ref().map_or(0, Stack::logical_bytes)
    }

    fn copied(&self) -> Option<Box<dyn Foreign>> {
        Some(Box::new(self.clone()))
    }

    fn save(&self) -> Option<(&'static str, Vec<Value>)> {
        Some((super::saved::NAME, Suspended::save(self)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_stays_small() {
        assert!(size_of::<Frame>() <= 64, "{}", size_of::<Frame>());
    }
}
