//! Sandboxes: one trait, several backends. Bytes go in and bytes come out; nothing here knows objects.
//!
//! - `order`: what is to be run, what it may see and use; what is not named is not there
//! - `limits`: how much of everything it may use
//! - `network`: whom it may call
//! - `wall`: what keeps it in, and what of that a host lacks
//! - `outcome`: how it ended, what it used, what it changed
//! - `changes`: that, read from its layers and compared with what was there before
//! - `backend`: the trait; `process` is the first: namespaces, seccomp, landlock and cgroups
//! - `warden`: the same with what is costly prepared, for those who run many
//!
//! **Fail closed.** An order that asks for more than a host has is refused, unless whoever gave it said that less will do;
//! then the outcome says what was missing.

mod backend;
pub mod changes;
mod error;
pub mod limits;
pub mod network;
pub mod order;
pub mod outcome;
pub mod process;
pub mod wall;
pub mod warden;

pub use backend::{Backend, Running, Sink, Stdin, Stop, Stream, Streams};
pub use error::SandboxError;
pub use limits::Limits;
pub use network::{Destination, Network};
pub use order::{Access, FileIn, Grant, Order, View};
pub use outcome::{Outcome, Usage, Verdict};
pub use wall::{Lack, Strength, Wall};
