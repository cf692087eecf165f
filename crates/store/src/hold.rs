//! Who may open the files of a store: one writer, or several readers.
//!
//! Log and image are locked themselves. A lock that stood beside them could be removed, or left out by whoever comes to the
//! same files through links; then two would write. `telos.lock` is for writers only: it keeps others out while there is no log
//! yet, and says which process has the store.

use crate::error::StoreError;
use crate::open::{IMAGE, LOCK, LOG};
use std::path::Path;
use system::file::{Hold, Lock};

/// The right to the files, until it is dropped.
pub struct Held {
    _files: [Lock; 2],
    /// Let go of last: whoever has it finds the files free.
    _name: Option<Lock>,
}

impl Held {
    pub(crate) fn to_write(directory: &Path) -> Result<Held, StoreError> {
        let name = Lock::take(&directory.join(LOCK))?;
        Ok(Held { _files: lock_files(directory, Hold::Alone)?, _name: Some(name) })
    }

    /// Nobody writes meanwhile. Leaves no trace, so that it can be had of a directory that is only readable.
    pub fn to_read(directory: &Path) -> Result<Held, StoreError> {
        Ok(Held { _files: lock_files(directory, Hold::Shared)?, _name: None })
    }
}

fn lock_files(directory: &Path, hold: Hold) -> Result<[Lock; 2], StoreError> {
    let log = Lock::of(&directory.join(LOG), hold)?;
    Ok([log, Lock::of(&directory.join(IMAGE), hold)?])
}
