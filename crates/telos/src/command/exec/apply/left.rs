//! What an `--apply` leaves that was killed: the directory where new files waited and old ones went. A list there says which
//! number is which path, so that a person can put things back.

use super::Step;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use std::fmt::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What the names of such directories begin with.
pub const PREFIX: &str = ".telos-apply-";

/// The list. It is written first: whatever is older than it was there before the program.
pub const LIST: &str = "steps";

/// A line for each number.
pub fn list(steps: &[Step]) -> String {
    let mut text = String::new();
    for (number, step) in steps.iter().enumerate() {
        let what = match step {
            Step::Remove(_) => "remove",
            Step::MakeDirectory(..) => "make",
            Step::Write(..) => "write",
            Step::SetMode(..) => "mode",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{number} {what} {:?}", step.path());
    }
    text
}

/// Says that somebody is at work in a directory of ours. Where files cannot be locked, nobody can tell.
pub fn mark(aside: &OwnedFd) {
    let _ = flock(aside, FlockOperation::NonBlockingLockExclusive);
}

/// Those in which nobody is at work any more.
pub fn left_in(host: &Path) -> Vec<PathBuf> {
    let is_ours =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    let entries = std::fs::read_dir(host).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(is_ours).filter(|path| is_abandoned(path)).collect()
}

fn is_abandoned(path: &Path) -> bool {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(rustix::fs::CWD, path, flags, Mode::empty());
    opened.is_ok_and(|opened| flock(opened.as_fd(), FlockOperation::NonBlockingLockShared).is_ok())
}
