//! The second wall around files: what the view shows by mistake, landlock refuses. Writing is left where it is meant, reading
//! where programs are, and nothing else but looking at directories.

use super::source::{Granted, Written};
use super::view::{OWN_MACHINE_ID, Shown, Skeleton};
use crate::order::Access;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::ffi::{CStr, CString};
use system::landlock::{EXECUTE, READ_DIRECTORY, READ_FILE, Rules, TRUNCATE, WRITE_FILE};

/// What may still be done at a path and below.
pub struct Left {
    pub path: CString,
    pub rights: Rights,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    List,
    Read,
    /// A file: it cannot be listed.
    ReadFile,
    /// Devices and /proc: what is there can be written to, and nothing made.
    Use,
    UseFile,
    All,
}

pub fn left(skeleton: &Skeleton, grants: &[(usize, Granted)], files: &[Written<'_>]) -> Vec<Left> {
    let of_kind = |is_directory| if is_directory { Rights::Read } else { Rights::ReadFile };
    let mut left = vec![at_root(c"", Rights::List), at_root(c"etc", Rights::Read), at_root(c"proc", Rights::Use)];
    // A rule holds for all below it, whatever is mounted there.
    let is_below = |shown: &Shown, directory: &[u8]| shown.inside.to_bytes().starts_with(directory);
    let is_alone = |shown: &&Shown| !is_below(shown, b"etc/") && !is_below(shown, b"usr/");
    left.extend(skeleton.shown.iter().find(|shown| is_below(shown, b"usr/")).map(|_| at_root(c"usr", Rights::Read)));
    left.extend(
        skeleton.shown.iter().filter(is_alone).map(|shown| at_root(&shown.inside, of_kind(shown.is_directory))),
    );
    left.extend(skeleton.devices.iter().map(|device| at_root(&device.inside, Rights::UseFile)));
    left.extend(skeleton.writable.iter().map(|path| at_root(path, Rights::All)));
    left.extend(grants.iter().map(|(_, granted)| {
        let rights = if granted.access == Access::Layered { Rights::All } else { of_kind(granted.is_directory) };
        at_root(&granted.place.path, rights)
    }));
    left.extend(files.iter().map(|file| at_root(&file.place.path, Rights::ReadFile)));
    left
}

/// The machine's id, where it is not in /etc but a link leads there.
pub fn own_identity() -> Left {
    at_root(OWN_MACHINE_ID, Rights::ReadFile)
}

fn at_root(path: &CStr, rights: Rights) -> Left {
    let mut whole = b"/".to_vec();
    whole.extend(path.to_bytes());
    Left { path: CString::new(whole).expect("a C string holds no zero"), rights }
}

/// The fence, not closed yet. From inside the view, without asking for memory.
pub fn rules(left: &[Left]) -> rustix::io::Result<Rules> {
    let rules = Rules::new()?;
    for Left { path, rights } in left {
        let place = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let rights = match rights {
            Rights::List => READ_DIRECTORY,
            Rights::Read => READ_DIRECTORY | READ_FILE | EXECUTE,
            Rights::ReadFile => READ_FILE | EXECUTE,
            Rights::Use => READ_DIRECTORY | READ_FILE | WRITE_FILE | TRUNCATE,
            Rights::UseFile => READ_FILE | WRITE_FILE | TRUNCATE,
            Rights::All => rules.all(),
        };
        rules.leave(&place, rights)?;
    }
    Ok(rules)
}
