//! Blocks and calls as heap records: their fields. Owns both layouts.

use object::{Handle, Value};

/// Fields of a block record; the argument names follow.
pub mod field {
    pub const MESSAGE: usize = 0;
    /// Where a block was made; nil in a method.
    pub const SCOPE: usize = 1;
    pub const PASSES_STOPS: usize = 2;
    pub const ARGUMENT_NAMES: usize = 3;
}

/// Fields of a call record.
pub mod call {
    pub const SENDER: usize = 0;
    pub const TARGET: usize = 1;
    pub const MESSAGE: usize = 2;
    pub const SLOT_CONTEXT: usize = 3;
    pub const ACTIVATED: usize = 4;
    pub const COROUTINE: usize = 5;
    pub const STOP_STATUS: usize = 6;
    pub const COUNT: usize = 7;
}

/// A block that is called: what was sent, to whom, and whose slot the block came from.
#[derive(Clone, Copy)]
pub struct Activation {
    pub block: Handle,
    pub target: Value,
    pub message: Handle,
    pub holder: Handle,
}
