//! What is left by who applied something and was killed: the directory where new files waited and old ones went. A list there says
//! which number is which path, so that a person can put things back; whoever takes the work up again sifts it.

use super::Step;
use anyhow::{Context, bail};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat};
use rustix::io::Errno;
use sandbox::changes::{Kind, Tree};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// What the names of such directories begin with.
const PREFIX: &str = ".telos-apply-";

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

/// Whether a path of a tree is such a directory, or lies in one.
pub fn is_kept_for_it(path: &Path) -> bool {
    path.iter().next().is_some_and(|top| top.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
}

/// Of who is called so.
pub fn name_of(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Of who does it once.
pub fn chance_name() -> anyhow::Result<String> {
    Ok(name_of(&format!("{:016x}", system::random::number().context("no randomness for a name")?)))
}

/// Removes what was left under a name, of which all is known that it held: `known` are the digests. What is not may be somebody
/// else's work, which came in between: it stays, under another name, and is told.
pub fn sift(tree: &Tree, name: &str, known: &BTreeSet<String>) -> anyhow::Result<Option<PathBuf>> {
    let top = name_of(name);
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let aside = match openat(tree.root(), &top, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened.with_context(|| format!("{top} is in the way"))?,
    };
    if flock(&aside, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("somebody is still at work in {}", tree.host.join(&top).display());
    }
    let (mut open, mut directories, mut is_all_known) = (vec![PathBuf::from(&top)], Vec::new(), true);
    while let Some(directory) = open.pop() {
        for path in tree.names(&directory) {
            let found = tree.look(&path)?.map(|print| print.kind);
            let digest = |kind| tree.digest(&path, kind).map(|digest| digest.text());
            match found {
                None => {}
                Some(Kind::Directory) => open.push(path),
                Some(kind @ (Kind::File | Kind::Link))
                    if path == Path::new(&top).join(LIST)
                        || digest(kind).is_ok_and(|digest| known.contains(&digest)) =>
                {
                    remove(tree, &path, AtFlags::empty())?;
                }
                Some(_) => is_all_known = false,
            }
        }
        directories.push(directory);
    }
    // Those that are not empty stay.
    for directory in directories.iter().rev() {
        let _ = remove(tree, directory, AtFlags::REMOVEDIR);
    }
    if is_all_known {
        return Ok(None);
    }
    let other = chance_name()?;
    renameat(tree.root(), &top, tree.root(), &other)?;
    Ok(Some(tree.host.join(other)))
}

fn remove(tree: &Tree, path: &Path, flags: AtFlags) -> Result<(), Errno> {
    let (parent, name) = tree.parent(path)?;
    unlinkat(&parent, name, flags)
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
