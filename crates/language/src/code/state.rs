//! What a place in compiled code means in the message tree, so that a frame can leave the code at any instruction.

use crate::machine::frame::Native;
use object::{Handle, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateId(pub u32);

/// Where a value is while the code runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Source {
    Register(u8),
    Constant(Value),
    /// The locals themselves, which leaving the code makes an object of.
    Locals,
}

/// One frame of the tree evaluator, as it would be here.
#[derive(Clone, PartialEq, Debug)]
pub enum Context {
    /// About to send `message`.
    Ready { message: Handle, target: Source },
    /// Gathering the arguments of `message`; these are done. The callee is where `Find` put it, or built in.
    Argument { message: Handle, callee: Option<Source>, target: Source, done: Vec<Source> },
    /// Waiting for what `message` asked for.
    Result { message: Handle },
    /// A primitive in the middle of its work.
    Native { native: Native, message: Handle, step: u32, target: Source, values: Vec<Source> },
    /// Not a frame: this value is on its way to the context above.
    Deliver { value: Source },
}

/// A context and the ones it is nested in.
#[derive(Clone, Debug)]
pub struct State {
    pub context: Context,
    pub parent: Option<StateId>,
}
