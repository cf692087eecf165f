//! A world dream, written down as any other: what it would have changed goes through the same journal.

use crate::error::DreamError;
use crate::journal::{Decoder, Writer};
use crate::kept::{Dreams, End, Header};
use object::change::{Change, Time};
use store::NewCommit;

/// Writes down a dream that is over already, with all that it did in one commit.
pub fn write_down(dreams: &Dreams, header: &Header, changes: Vec<Change>, end: &End) -> Result<(), DreamError> {
    let mut recording = dreams.begin(header)?;
    if let Some(time) = changes.first().map(|change| change.time) {
        let (author, cause) = (header.agent.clone(), header.mandate.clone());
        let mut bytes = Vec::new();
        let commit = NewCommit { time, author, cause, changes, ..NewCommit::default() };
        Writer::new(header.fork(), header.bounds).write(&commit, &mut bytes)?;
        let mut failure = None;
        let receipt = Time(time.0.saturating_add(1));
        Decoder::new(header.fork(), header.bounds).feed(&bytes, receipt, &mut |received| {
            failure = recording.append(&received).err();
        })?;
        failure.map_or(Ok(()), Err)?;
    }
    recording.end(end)
}
