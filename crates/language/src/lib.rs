//! The Io language: parser, message trees and a stackless virtual machine with fuel.
//! Pure: it can touch nothing of the host but what the embedder hands in.
//!
//! - `syntax`: source to trees and back
//! - `message`, `block`: trees and code as objects
//! - `code`: the same as register instructions, a disposable cache
//! - `machine`: frames, evaluation, unwinding, coroutines
//! - `primitives`: what Io cannot say in Io; `library`: what it can
//! - `vm`, `embed`, `inspect`, `limits`, `host`: the embedder's side

mod block;
mod code;
mod embed;
mod host;
mod inspect;
mod library;
mod limits;
mod machine;
mod message;
mod names;
mod operator_table;
mod primitives;
mod protos;
mod signal;
pub mod syntax;
mod vm;

pub use embed::{Error, Exception, TraceEntry};
pub use host::{Host, Output, Zone, ZoneAt};
pub use inspect::Unknown;
pub use library::sources as library_sources;
pub use limits::{Interrupt, Limits};
pub use object::{Handle, Value};
pub use primitives::{ALL, Args, Eagerness, Function, LAZY, NONE, ONE, THREE, TWO};
pub use signal::{Halt, Outcome, Signal};
pub use vm::Vm;
