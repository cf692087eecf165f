//! Which dreams go by themselves: those that are over, are not to be kept, and are too old or too many. One that is kept stays
//! until it is discarded; one that has not ended, or cannot be read, is nobody's to remove but a person's.

use super::{DreamId, Summary};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Since the end.
    pub age_ms: u64,
    /// The newest so many stay.
    pub count: usize,
}

impl Default for Retention {
    fn default() -> Retention {
        const WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;
        Retention { age_ms: WEEK_MS, count: 1000 }
    }
}

impl Retention {
    /// Those to be removed.
    pub fn expired(&self, dreams: &[Summary], now_ms: u64) -> Vec<DreamId> {
        let over = dreams.iter().filter_map(|dream| Some((dream.end.as_ref().filter(|end| !end.is_kept)?, dream)));
        let mut over: Vec<(u64, DreamId)> = over.map(|(end, dream)| (end.ended_ms, dream.header.id())).collect();
        over.sort_unstable_by(|one, other| other.cmp(one));
        let is_old = |ended_ms: u64| now_ms.saturating_sub(ended_ms) > self.age_ms;
        let numbered = over.into_iter().enumerate();
        numbered
            .filter(|(index, (ended_ms, _))| *index >= self.count || is_old(*ended_ms))
            .map(|(_, (_, id))| id)
            .collect()
    }
}
