//! A world dream, written down as any other: what it would have changed goes through the same journal.

use crate::error::DreamError;
use crate::journal::{Decoder, Writer};
use crate::kept::{Dreams, End, Header};
use object::change::{Change, Time};
use store::NewCommit;

/// Writes down a dream that is over already, with all that it did in one commit.
pub fn write_down(dreams: &Dreams, header: &Header, changes: Vec<Change>, end: &End) -> Result<(), DreamError> {
    let Some(time) = changes.first().map(|change| change.time) else { return dreams.begin(header)?.end(end) };
    let (author, cause) = (header.agent.clone(), header.mandate.clone());
    let mut bytes = Vec::new();
    let commit = NewCommit { time, author, cause, changes, ..NewCommit::default() };
    // First of all: one that is refused leaves no file that says that it is going on.
    Writer::new(header.fork(), header.bounds).write(&commit, &mut bytes)?;
    let mut recording = dreams.begin(header)?;
    let mut failure = None;
    let receipt = Time(time.0.saturating_add(1));
    Decoder::new(header.fork(), header.bounds).feed(&bytes, receipt, &mut |received| {
        failure = recording.append(&received).err();
    })?;
    failure.map_or(Ok(()), Err)?;
    recording.end(end)
}
