//! One commit of a dream, decoded; and the same with the bytes that it came in, for whoever keeps those.

use object::change::{Change, Time};

/// What one transaction of the dream did. There is no way to make one but to decode it: whoever has one knows that it was
/// checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub(super) time: Time,
    pub(super) author: String,
    pub(super) cause: String,
    pub(super) changes: Vec<Change>,
}

/// An entry as it was received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Received<'b> {
    pub entry: Entry,
    /// What it was decoded from. Kept as it is: to write the entry anew would put names that a stranger chose into a table.
    pub(crate) payload: &'b [u8],
    pub(crate) receipt: Time,
}

impl Entry {
    /// When, by the dreamer's word, within the dream's time.
    pub const fn time(&self) -> Time {
        self.time
    }

    /// Who wanted it, by the dreamer's word.
    pub fn author(&self) -> &str {
        &self.author
    }

    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Of the dream's own actor, numbered without gaps over the whole journal.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}
