//! A journal that was decoded: every change keeps to what can be known without the image.

use super::{Call, Entry, ForkPoint};
use object::change::{Change, Operation};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Journal {
    fork: ForkPoint,
    entries: Vec<Entry>,
    cut_bytes: usize,
}

impl Journal {
    /// One in which nothing happened yet.
    pub const fn new(fork: ForkPoint) -> Journal {
        Journal { fork, entries: Vec::new(), cut_bytes: 0 }
    }

    /// Takes an entry that a [`super::Decoder`] of the same dream gave.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(crate) fn note_cut(&mut self, bytes: usize) {
        self.cut_bytes = bytes;
    }

    pub const fn fork(&self) -> ForkPoint {
        self.fork
    }

    /// Commit by commit.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All changes, from number 1 on.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.entries.iter().flat_map(|entry| &entry.changes)
    }

    /// The same, for whoever merges them.
    pub fn into_changes(self) -> Vec<Change> {
        self.entries.into_iter().flat_map(|entry| entry.changes).collect()
    }

    /// What the dream asked of the world outside, and what it was answered.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.changes().filter_map(|change| match &change.operation {
            Operation::Call { name, payload } => Call::read(change, name, payload),
            _ => None,
        })
    }

    /// Bytes at the end that were no whole frame, and left out.
    pub const fn cut_bytes(&self) -> usize {
        self.cut_bytes
    }
}
