//! Dreams: what a sealed fork of the image did, from the bytes that came out of it to something that a person can read.
//!
//! - `journal`: a dream's changes as a stream of bytes, and the way back, which trusts none of it
//! - `kept`: dreams as files that outlive every process
//! - [`show`]: what a dream did, for a person and for programs

mod error;
mod journal;
mod kept;
pub mod show;

pub use error::DreamError;
pub use journal::{
    Answered, Bounds, Call, Decoder, Entry, ForkPoint, Journal, JournalError, RawJournal, Received, Writer,
};
pub use kept::{
    DreamId, Dreams, End, FileChange, FileKind, Header, KeptDream, Limits, Listed, Original, PathText, Recording,
    Retention, Status, Summary, Usage, Written,
};
