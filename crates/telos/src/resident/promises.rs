//! What a dream that is to be merged leaves to be done to the world outside: which calls it may have promised, and which files it
//! brings.

use super::Resident;
use crate::host::told;
use broker::{Call, Promises};
use dream::{Answered, DreamId, Dreams, Header, Journal};
use image::{Arrival, BroughtFiles};

/// Calls that are to be made when it is merged must be such as it was allowed to promise: its journal is its own word.
pub fn check(header: &Header, journal: &Journal) -> Result<(), String> {
    let promises = header.promises.clone().and_then(|promises| serde_json::from_value(promises).ok());
    let promises: Promises = promises.unwrap_or_default();
    for call in journal.calls().filter(|call| call.answered == Answered::Deferred) {
        let arguments: Option<Vec<_>> = call.arguments.iter().map(told::told_of).collect();
        let arguments = arguments.ok_or_else(|| format!("`{}` has arguments that no call has", call.name))?;
        promises.check(&Call::new(&image::readable_text(call.name.as_bytes()), arguments))?;
    }
    Ok(())
}

pub fn brought_files(dreams: &Dreams, id: DreamId) -> Result<Option<BroughtFiles>, String> {
    let written = dreams.told_files(id).map_err(|error| error.to_string())?;
    let (count, digest) = (written.len() as u64, dream::digest_of(&written));
    Ok((count > 0).then_some(BroughtFiles { count, digest }))
}

impl Resident {
    /// What a dream wrote to files must be there until it is applied, whatever happens.
    pub(super) fn keep_files(&self, arrival: &Arrival) -> Result<(), String> {
        if arrival.files.is_none() {
            return Ok(());
        }
        let id: DreamId = arrival.name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        self.kept()?.set_kept(id, true).map_err(|error| error.to_string())
    }
}
