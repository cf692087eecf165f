//! Dreams: what a sealed fork of the image did, from the bytes that came out of it to something that a person can read.
//!
//! - `journal`: a dream's changes as a stream of bytes, and the way back, which trusts none of it
mod journal;

pub use journal::{Answered, Bounds, Call, Decoder, Entry, ForkPoint, Journal, JournalError, RawJournal, Writer};
