//! One commit's payload to an entry: bounded, decoded, checked. Knows nothing of where the payload came from.

use super::check::Check;
use super::{Bounds, Entry, ForkPoint, JournalError};
use object::change::{Change, Time};
use store::Payload;

/// Takes the payloads of one dream, one after the other.
#[derive(Clone, Debug)]
pub struct Intake {
    pub bounds: Bounds,
    check: Check,
}

impl Intake {
    pub const fn new(fork: ForkPoint, bounds: Bounds) -> Intake {
        Intake { bounds, check: Check::new(fork) }
    }

    /// Takes note of an entry that was checked before.
    pub fn note(&mut self, entry: &Entry) {
        self.check.note(entry);
    }

    pub const fn last_seq(&self) -> u64 {
        self.check.last_seq()
    }

    /// The entry of the frame at this position. After an error the intake is of no use.
    pub fn entry(&mut self, payload: &[u8], position: u64, receipt: Time) -> Result<Entry, JournalError> {
        let Payload { time, author, cause, batch } = Payload::read(payload).ok_or(JournalError::Short { position })?;
        let (author, cause) = (self.text("author", author, position)?, self.text("cause", cause, position)?);
        let mut entry = Entry { time, author, cause, changes: self.changes(batch, position)? };
        self.check.entry(&mut entry, receipt, &self.bounds, position)?;
        Ok(entry)
    }

    fn text(&self, what: &'static str, text: &[u8], position: u64) -> Result<String, JournalError> {
        let (bytes, most) = (text.len(), self.bounds.text_bytes);
        if bytes > most {
            return Err(JournalError::TextBytes { what, position, bytes, most });
        }
        std::str::from_utf8(text).map(String::from).map_err(|_| JournalError::NoText { what, position })
    }

    fn changes(&self, batch: &[u8], position: u64) -> Result<Vec<Change>, JournalError> {
        let unreadable = |source| JournalError::Changes { position, source };
        let mut changes = Vec::new();
        if batch.is_empty() {
            return Ok(changes);
        }
        for change in object::change::Decoder::new(batch).map_err(unreadable)? {
            if changes.len() == self.bounds.frame_changes {
                return Err(JournalError::FrameChanges { position, most: self.bounds.frame_changes });
            }
            if self.check.last_seq() + changes.len() as u64 == self.bounds.journal_changes {
                return Err(JournalError::JournalChanges { most: self.bounds.journal_changes });
            }
            changes.push(change.map_err(unreadable)?);
        }
        Ok(changes)
    }
}
