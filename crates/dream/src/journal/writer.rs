//! The dreamer's side: commits to bytes. Keeps to the same bounds as the reader, so that an honest program is told what it did
//! too much of while it can still do something about it.

use super::frame::{self, HEADER_BYTES, Kind};
use super::{Bounds, ForkPoint, JournalError};
use object::change::{self, Change, Time};
use store::NewCommit;

/// Writes one stream, from its beginning.
pub struct Writer {
    seed: u64,
    bounds: Bounds,
    position: u64,
    changes: u64,
}

impl Writer {
    pub fn new(fork: ForkPoint, bounds: Bounds) -> Writer {
        Writer { seed: fork.seed(), bounds, position: 0, changes: 0 }
    }

    /// Writes a commit behind whatever the buffer holds. After an error nothing was written, and the next one may be.
    pub fn write(&mut self, commit: &NewCommit, buffer: &mut Vec<u8>) -> Result<(), JournalError> {
        let (bounds, position) = (&self.bounds, self.position);
        check_text("author", &commit.author, position, bounds)?;
        check_text("cause", &commit.cause, position, bounds)?;
        if commit.changes.len() > bounds.frame_changes {
            return Err(JournalError::FrameChanges { position, most: bounds.frame_changes });
        }
        let changes = self.changes + commit.changes.len() as u64;
        if changes > bounds.journal_changes {
            return Err(JournalError::JournalChanges { most: bounds.journal_changes });
        }
        let payload = encode(commit.time, &commit.author, &commit.cause, &commit.changes)?;
        self.write_payload(&payload, buffer)?;
        self.changes = changes;
        Ok(())
    }

    /// The same for one that the store has encoded and bounded.
    pub fn write_payload(&mut self, payload: &[u8], buffer: &mut Vec<u8>) -> Result<(), JournalError> {
        let (bounds, position) = (&self.bounds, self.position);
        if payload.len() > bounds.frame_bytes {
            return Err(JournalError::FrameBytes { position, bytes: payload.len(), most: bounds.frame_bytes });
        }
        let end = position + (HEADER_BYTES + payload.len()) as u64;
        if end > bounds.journal_bytes {
            return Err(JournalError::JournalBytes { most: bounds.journal_bytes });
        }
        frame::write(self.seed, position, Kind::Commit, &[payload], buffer);
        self.position = end;
        Ok(())
    }
}

fn check_text(what: &'static str, text: &str, position: u64, bounds: &Bounds) -> Result<(), JournalError> {
    let (bytes, most) = (text.len(), bounds.text_bytes);
    if bytes > most { Err(JournalError::TextBytes { what, position, bytes, most }) } else { Ok(()) }
}

/// The payload of a commit's frame: that of the log.
fn encode(time: Time, author: &str, cause: &str, changes: &[Change]) -> Result<Vec<u8>, JournalError> {
    let unwritable = |error: change::ChangeError| JournalError::Unwritable(error.to_string());
    store::encode_payload(time, author, cause, changes).map_err(unwritable)
}
