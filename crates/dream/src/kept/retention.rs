//! Which dreams go by themselves: those that are over, are not to be kept, and are too old, too many or too large. One that is kept stays
//! until it is discarded; one that has not ended, or cannot be read, is nobody's to remove but a person's.

use super::{DreamId, Summary};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Since the end.
    pub age_ms: u64,
    /// The newest so many stay.
    pub count: usize,
    /// Of all files together; the newest stay.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        const WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;
        Retention { age_ms: WEEK_MS, count: 1000, bytes: 1 << 30 }
    }
}

impl Retention {
    /// Those to be removed.
    pub fn expired(&self, dreams: &[Summary], now_ms: u64) -> Vec<DreamId> {
        let over = dreams.iter().filter_map(|dream| Some((dream.end.as_ref().filter(|end| !end.is_kept)?, dream)));
        let mut over: Vec<(u64, DreamId, u64)> =
            over.map(|(end, dream)| (end.ended_ms, dream.header.id(), dream.file_bytes)).collect();
        over.sort_unstable_by(|one, other| other.cmp(one));
        let is_old = |ended_ms: u64| now_ms.saturating_sub(ended_ms) > self.age_ms;
        let mut bytes = 0_u64;
        let goes = |(index, (ended_ms, id, file_bytes)): (usize, (u64, DreamId, u64))| {
            bytes = bytes.saturating_add(file_bytes);
            let goes = index >= self.count || is_old(ended_ms) || (bytes > self.bytes && index > 0);
            goes.then_some(id)
        };
        over.into_iter().enumerate().filter_map(goes).collect()
    }
}
