//! What ends an evaluation other than by a value: stops, exceptions, limits, and the switch to another frame.

use object::{Handle, Value};

/// How a primitive ended if not with its value.
#[derive(Clone, Debug)]
pub enum Signal {
    /// It pushed a frame; the value comes when that frame ends.
    Entered,
    /// `break`, `continue` or `return` on its way out.
    Stop(Stop, Value),
    /// An exception object on its way to the nearest handler.
    Raise(Value),
    /// Leave this coroutine as it is and go on in another, which receives the value.
    Switch(Handle, Value),
    /// A primitive that was called from compiled code needs its sender as an object; it has done nothing yet.
    Reify,
    /// The program may not go on. No program can catch this.
    Halt(Halt),
}

/// Why a chain stops early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stop {
    Break,
    Continue,
    Return,
    EndOfLine,
}

/// Why the machine gave control back before the program ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    #[error("out of fuel: the limit of {limit} messages is used up")]
    Fuel { limit: u64 },
    #[error("out of memory: {used_bytes} logical bytes are in use, the limit is {limit_bytes}")]
    Memory { used_bytes: u64, limit_bytes: u64 },
    #[error("interrupted")]
    Interrupted,
    /// The program asked to end with this code.
    #[error("exit with code {code}")]
    Exit { code: u8 },
}

pub type Outcome = Result<Value, Signal>;

impl From<Halt> for Signal {
    fn from(halt: Halt) -> Signal {
        Signal::Halt(halt)
    }
}
