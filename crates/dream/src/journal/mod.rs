//! A dream's journal: what the dreamer says it did, on its way out and into hands that trust none of it.
//!
//! - `frame`: the bytes around each commit; `writer`, `journaling`: from a commit to bytes, in the dreamer
//! - `raw`, `decoder`: from bytes to entries, whatever the bytes and however they are cut into pieces; `bounds`: how much of it
//! - `intake`: one commit; `check`: what can be known of an entry without the image; `entry`, `decoded`: what is left to read
//! - `call`: calls to the world outside, with their answers
//!
//! **Hostile.** Bytes come from a process that may run anything. They are entries that keep to every rule here, or an error that
//! says which one they break; never a panic, and never more memory than [`Bounds`] allow. After an error nothing more is taken.
//!
//! Whether the journal fits the image that it is merged into is not asked here: `merge` admits it, against the ledger.

mod bounds;
mod call;
mod check;
mod decoded;
mod decoder;
mod entry;
mod error;
mod frame;
mod intake;
mod journaling;
mod raw;
mod writer;

pub use bounds::Bounds;
pub use call::{Answered, Call};
pub use decoded::Journal;
pub use decoder::Decoder;
pub use entry::{Entry, Received};
pub use error::JournalError;
pub use journaling::Journaling;
pub use raw::RawJournal;
pub use writer::Writer;

pub(crate) use frame::{Frame, HEADER_BYTES, Kind, write as write_frame};
pub(crate) use intake::Intake;

use object::change::{ActorId, Time};

/// What the primary knows of a dream's beginning. Nothing of it is taken from the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForkPoint {
    /// The id of the image's store.
    pub store: [u8; 16],
    /// The dream's own, minted for it: every actor that it can have heard of has a smaller number.
    pub actor: ActorId,
    pub forked: Time,
}

impl ForkPoint {
    /// The checksums of a dream's frames are its own, so that no frame of another is taken for one of it.
    pub(crate) fn seed(&self) -> u64 {
        store::checksum(self.actor.0, &self.store)
    }
}
