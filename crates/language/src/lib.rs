//! The Io language: parser, message trees and a stackless virtual machine with fuel.
//! Pure: it can touch nothing of the host but what the embedder hands in.
//!
//! # Embedding
//!
//! A [`Vm`] is a whole Io world. It runs what it is given and touches nothing outside, unless its [`Host`] or a
//! primitive lets it.
//!
//! ```
//! use language::{Args, Function, Host, Output, TWO, Value, Vm};
//! use std::cell::RefCell;
//! use std::rc::Rc;
//!
//! // A capability: where the program's output goes.
//! #[derive(Clone, Default)]
//! struct Page(Rc<RefCell<Vec<u8>>>);
//!
//! impl Output for Page {
//!     fn write(&mut self, bytes: &[u8]) {
//!         self.0.borrow_mut().extend_from_slice(bytes);
//!     }
//! }
//!
//! let page = Page::default();
//! let mut vm = Vm::new(Host { output: Some(Box::new(page.clone())), ..Host::default() });
//!
//! // A capability of our own: an object with a method in Rust. Errors become exceptions of the program.
//! let geometry = vm.prototype("Geometry");
//! let hypotenuse = |vm: &mut Vm, args: Args| {
//!     let (a, b) = (args.number(vm, 0)?, args.number(vm, 1)?);
//!     Ok(Value::number(a.hypot(b)))
//! };
//! vm.define(geometry, "hypotenuse", TWO, Function::Plain(hypotenuse));
//!
//! let value = vm.evaluate("Geometry hypotenuse(3, 4) println", "example")?;
//! assert_eq!(value, Value::number(5.0));
//! assert_eq!(*page.0.borrow(), b"5\n");
//!
//! // A method of the program, called from Rust.
//! vm.evaluate("greet := method(name, \"hello, \" .. name)", "example")?;
//! let (lobby, name) = (vm.lobby(), vm.symbol("world"));
//! let greeting = vm.send(lobby, "greet", &[name])?;
//! assert_eq!(vm.text_of(greeting).as_deref(), Some("hello, world"));
//! # Ok::<(), language::Error>(())
//! ```
//!
//! - run: [`Vm::evaluate`], [`Vm::evaluate_in`], [`Vm::send`]; what went wrong is an [`Error`]
//! - bound: [`Vm::set_limits`] for fuel, memory and depth; [`Vm::interrupt`] for a clock or a key
//! - extend: [`Vm::prototype`], [`Vm::define`] with [`Args`] and [`Function`]; [`Vm::set_foreign`] for state in Rust
//! - exchange: [`Vm::symbol`], [`Vm::list`], [`Vm::map`] make values; [`Vm::number_of`], [`Vm::text_of`],
//!   [`Vm::list_of`], [`Vm::map_of`], [`Vm::to_text`] read them; [`Vm::get_slot`] and [`Vm::set_slot`] reach slots
//! - keep: a [`Value`] does not keep its object alive. It is good until the machine runs again; [`Vm::retain`] what
//!   must last longer.
//!
//! `examples/embed.rs` shows all of it in one program.
//!
//! # Inside
//!
//! - `syntax`: source to trees and back; `operator_table`: its operators as a program sees and changes them
//! - `names`, `protos`, `root`: the symbols and prototypes that the machine itself knows, and where it finds them again
//! - `message`, `block`: trees and code as objects; `content`: what objects of a kind must hold
//! - `code`: the same as register instructions, a disposable cache
//! - `machine`: frames, evaluation, unwinding, coroutines; `signal`: what ends an evaluation other than by a value
//! - `problem`: words for what went wrong
//! - `primitives`: what Io cannot say in Io; `library`: what it can
//! - `vm`, `embed`, `exchange`, `inspect`, `limits`, `host`: the embedder's side

/// The Rust of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

mod block;
mod code;
mod content;
mod embed;
mod exchange;
mod host;
mod inspect;
mod library;
mod limits;
mod machine;
mod message;
mod names;
mod operator_table;
mod place;
mod primitives;
pub mod problem;
mod protos;
mod root;
mod signal;
pub mod syntax;
mod vm;

pub use block::field as block_field;
pub use content::check_content;
pub use embed::{Error, Exception, Trace, TraceEntry};
pub use host::{Host, Output, Zone, ZoneAt};
pub use inspect::Unknown;
pub use library::{documentation, documentation_in, sources as library_sources};
#[doc(hidden)]
pub use limits::CREDIT;
pub use limits::{Interrupt, Limits};
pub use machine::saved::Damage;
pub use message::field as message_field;
pub use object::sequence::Sequence;
pub use object::{Data, Foreign, Handle, Heap, Kind, Reads, Value};
pub use primitives::{ALL, Args, Eagerness, Function, LAZY, NONE, ONE, THREE, TWO};
pub use signal::{Halt, Outcome, Signal, Stop};
pub use vm::Vm;
