//! What a program can leave behind outside of its machine, where no level takes it back: variables, the current directory, files
//! in the place for temporary ones, and dreams that it asked for. Whoever runs several programs in one process, none of which is to
//! know of the others, puts all of it back between them.

use super::Shared;
use language::Vm;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub struct Surroundings {
    environment: BTreeMap<OsString, OsString>,
    directory: Option<PathBuf>,
}

impl Surroundings {
    /// As they are now. Only for a dreamer, whose place for temporary files is its own: all that is in there goes.
    pub fn of(vm: &mut Vm) -> Surroundings {
        let environment = vm.extra::<Shared>().map(|shared| shared.environment.clone()).unwrap_or_default();
        Surroundings { environment, directory: std::env::current_dir().ok() }
    }

    pub fn put_back(&self, vm: &mut Vm) {
        if let Some(shared) = vm.extra::<Shared>() {
            shared.environment.clone_from(&self.environment);
            shared.dreams.iter().for_each(super::dream::Desk::forget);
        }
        if let Some(directory) = &self.directory
            && std::env::current_dir().ok().as_ref() != Some(directory)
        {
            // It was there, and nobody in there can take it away.
            let _ = std::env::set_current_dir(directory);
        }
        empty(Path::new(sandbox::process::SCRATCH));
    }
}

/// What cannot be removed now will be seen, and whoever sees it cannot be sure of anything any more.
fn empty(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        let _ = if is_directory { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}
