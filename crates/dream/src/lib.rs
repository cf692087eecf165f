//! Dreams: what a sealed fork of the image did, from the bytes that came out of it to something that a person can read.
//!
//! - `journal`: a dream's changes as a stream of bytes, and the way back, which trusts none of it
//! - `attendant`: the process beside a dreamer; `world`: dreams that need none
//! - `layers`: what a dream wrote in directories that it was let into
//! - `kept`: dreams as files that outlive every process
//! - [`show`]: what a dream did, for a person and for programs
//! - [`path`]: how places are written
//! - [`agent`]: what a program outside may say about a dream that it was given
//!
//! # The way of a journal
//!
//! The dreamer has a [`Writer`]; the reader, a process that has nothing to lose by it, a [`Decoder`] for what comes in pieces, or
//! a [`RawJournal`] for what was received as a whole. Both give entries, and nothing else does: a [`Journal`] of them keeps to every
//! rule that can be known without the image. Whoever keeps the dream appends each entry to a [`Recording`] as it comes.
//!
//! ```
//! use dream::{Bounds, Decoder, ForkPoint, Journal, Writer, show};
//! use object::change::{ActorId, Change, ChangeId, ObjectId, Operation, Time};
//! use store::NewCommit;
//!
//! let fork = ForkPoint { store: [1; 16], actor: ActorId(7), forked: Time::from_ms(1_000) };
//!
//! // In the dreamer.
//! let account = ObjectId::minted(ChangeId::new(ActorId(1), 42));
//! let set = Change::new(ChangeId::new(fork.actor, 1), fork.forked, account, Operation::set_slot("balance", 5.0));
//! let (mut writer, mut stream) = (Writer::new(fork, Bounds::default()), Vec::new());
//! writer.write(&NewCommit { time: fork.forked, changes: vec![set], ..NewCommit::default() }, &mut stream)?;
//!
//! // Outside.
//! let (mut decoder, mut journal) = (Decoder::new(fork, Bounds::default()), Journal::new(fork));
//! for piece in stream.chunks(10) {
//!     decoder.feed(piece, Time::from_ms(2_000), &mut |received| journal.push(received.entry))?;
//! }
//! assert_eq!(show::diff(&journal, &show::Nameless).to_string(), "object 1.2a (1.2a)\n  + balance := 5\n");
//! # Ok::<(), dream::JournalError>(())
//! ```
//!
//! **After an error** of a decoder the dream is to be ended, and its journal is good for nothing but to look at.

pub mod agent;
mod attendant;
mod carry;
mod error;
mod journal;
mod kept;
mod layers;
pub mod path;
pub mod show;
mod world;

pub use attendant::{Alone, Forked, Record, Sealed, ended};
pub use error::DreamError;
pub use journal::{
    Answered, Bounds, Call, Decoder, Entry, ForkPoint, Journal, JournalError, Journaling, RawJournal, Received, Writer,
};
pub use kept::{
    DEPTH_MAX, DreamId, Dreams, End, FileChange, FileKind, Header, KeptDream, Limits, Lineage, Listed, Original,
    PROGRAM_FAILED, Recording, Retention, SeenDirectory, Status, Summary, Usage, digest_of,
};
pub use layers::Written;
pub use world::write_down;
