//! A journal before anybody looked at it: bytes, and not too many.

use super::{Bounds, Decoder, ForkPoint, Journal, JournalError};
use object::change::Time;

/// What came from a dreamer. All that can be done with it is to decode it.
#[derive(Clone, Debug)]
pub struct RawJournal {
    bytes: Vec<u8>,
    bounds: Bounds,
}

impl RawJournal {
    pub const fn new(bounds: Bounds) -> RawJournal {
        RawJournal { bytes: Vec::new(), bounds }
    }

    /// Takes what was received; an error if that is more than the bounds allow, and then nothing of it is taken.
    pub fn push(&mut self, received: &[u8]) -> Result<(), JournalError> {
        let most = self.bounds.journal_bytes;
        if (self.bytes.len() + received.len()) as u64 > most {
            return Err(JournalError::JournalBytes { most });
        }
        self.bytes.extend(received);
        Ok(())
    }

    /// The decoded journal. A frame that is not whole at the end is left out: its commit was not finished.
    pub fn decode(self, fork: ForkPoint, receipt: Time) -> Result<Journal, JournalError> {
        let mut decoder = Decoder::new(fork, self.bounds);
        let mut journal = Journal::new(fork);
        decoder.feed(&self.bytes, receipt, &mut |received| journal.push(received.entry))?;
        journal.note_cut(decoder.unfinished_bytes());
        Ok(journal)
    }
}
