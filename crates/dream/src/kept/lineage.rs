//! Dreams inside of dreams: what one goes on from that was begun inside of another. It is told, like a dream that is made again,
//! by the commit of the live image and by journals: those of all dreams around it, as far as they had come.

use super::{DreamId, Dreams, Header};
use crate::error::DreamError;
use crate::journal::Entry;

/// How many dreams may be around one.
pub const DEPTH_MAX: usize = 4;

/// What a dream goes on from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lineage {
    /// The last commit of the live image that it sees.
    pub fork_commit: u64,
    /// What the dreams around it did, the outermost first.
    pub entries: Vec<Entry>,
}

impl Dreams {
    /// What is known of a dream since its beginning.
    pub fn header(&self, id: DreamId) -> Result<Header, DreamError> {
        Ok(self.summary(id)?.header)
    }

    /// How many dreams are around this one; an error if there may be no other inside of it.
    pub fn check_depth(&self, id: DreamId) -> Result<usize, DreamError> {
        let (mut depth, mut header) = (0, self.header(id)?);
        while let Some((parent, _)) = header.parent {
            depth += 1;
            if depth >= DEPTH_MAX {
                return Err(DreamError::TooDeep { id: id.to_string(), most: DEPTH_MAX });
            }
            header = self.header(parent)?;
        }
        Ok(depth)
    }

    /// Where a dream that is begun inside of this one goes on from, and how many changes this one has made by now.
    pub fn inside_of(&self, parent: DreamId) -> Result<(Lineage, u64), DreamError> {
        self.check_depth(parent)?;
        let lineage = self.around((parent, u64::MAX))?;
        let mut own = lineage.entries.iter().flat_map(Entry::changes).filter(|change| change.id.actor == parent.0);
        let count = own.next_back().map_or(0, |change| change.id.seq);
        Ok((lineage, count))
    }

    /// What the dream was begun with that has this header.
    pub fn lineage(&self, header: &Header) -> Result<Lineage, DreamError> {
        match header.parent {
            None => Ok(Lineage { fork_commit: header.fork_commit, entries: Vec::new() }),
            Some(parent) => self.around(parent),
        }
    }

    /// A dream and all around it, as far as it had come with so many changes. The depth of the files was checked, or is that of
    /// headers which this program wrote.
    fn around(&self, (id, changes): (DreamId, u64)) -> Result<Lineage, DreamError> {
        let dream = self.read(id)?;
        let mut lineage = match dream.header.parent {
            // Actors are numbered as they are made: so no file can lead in a circle.
            Some(parent) if parent.0 < id => self.around(parent)?,
            Some(_) => return Err(DreamError::Missing(id.to_string())),
            None => Lineage { fork_commit: dream.header.fork_commit, entries: Vec::new() },
        };
        let is_before = |entry: &&Entry| entry.changes().last().is_none_or(|last| last.id.seq <= changes);
        lineage.entries.extend(dream.journal.entries().iter().take_while(is_before).cloned());
        Ok(lineage)
    }
}
