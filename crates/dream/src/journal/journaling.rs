//! The dreamer's end of its journal.

use super::{JournalError, Writer};
use std::fs::File;
use std::io::Write;

/// Tells what was committed, through a pipe. It waits while nobody takes it: so a dream can do no more than is written down.
pub struct Journaling {
    pipe: File,
    writer: Writer,
    buffer: Vec<u8>,
}

impl Journaling {
    pub(crate) fn new(pipe: File, writer: Writer) -> Journaling {
        Journaling { pipe, writer, buffer: Vec::new() }
    }

    /// One commit, as the store has encoded it.
    pub fn tell(&mut self, payload: &[u8]) -> Result<(), JournalError> {
        self.buffer.clear();
        self.writer.write_payload(payload, &mut self.buffer)?;
        self.pipe.write_all(&self.buffer).map_err(|error| JournalError::Unwritable(error.to_string()))
    }
}
