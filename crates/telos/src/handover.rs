//! What a merged dream wrote in directories, brought there: by the broker's process, when the live image asks for it as it asks for
//! a call. Done again it does nothing more, so that it can be taken up after any crash.
//!
//! Each file is compared with what the dream saw: what is as it was is replaced, what is as the dream wrote it is done, and
//! what is anything else stays as it is and is told. Before anything is replaced, what was there is kept in `originals`, as changes
//! that take it back: an undo is the same work with those. A directory that holds an image is not touched at all.
//!
//! - `compare`: how things stand, file by file; what may be done, and what is left

mod compare;
#[cfg(test)]
mod tests;

use crate::apply;
use crate::report;
use anyhow::{Context, bail, ensure};
use compare::Compared;
use dream::{DreamError, DreamId, Dreams, FileChange, FileKind, Header, Original, Written};
use rustix::fs::{Mode, OFlags, openat, syncfs};
use sandbox::changes::{Kind, Snapshot, Tree, digest};
use sandbox::outcome::ChangeKind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use system::changed::path;

/// What the live image asks for.
pub mod call {
    pub const APPLY: &str = image::APPLY_FILES;
    pub const TAKE: &str = "Files.take";
    pub const RESTORE: &str = "Files.restore";
    pub const ALL: [&str; 3] = [APPLY, TAKE, RESTORE];
}

/// So many files are told by name.
const TOLD_MOST: usize = 1_000;
/// Of originals that are kept for an undo, of one directory.
const ORIGINAL_BYTES_MOST: u64 = 64 << 20;
/// Somebody may change a file between the look at it and the change; then all is looked at again, so many times.
const TRIES: usize = 3;

/// What came of it, as JSON the answer to the call.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Handed {
    /// How many are as they were to be.
    pub applied: u64,
    /// Those of them that were not so before, the first of them.
    pub paths: Vec<String>,
    /// What was left as it was, the first of it.
    pub left: Vec<LeftFile>,
    pub more_left: u64,
}

/// A file that was not touched, in words, and for who decides about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeftFile {
    pub path: String,
    pub place: Place,
    pub base: String,
    pub dreamt: String,
    pub found: String,
    pub why: String,
}

/// Which file it is, and how it was found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Place {
    #[serde(with = "path")]
    pub directory: PathBuf,
    #[serde(with = "path")]
    pub path: PathBuf,
    pub found: Option<Original>,
}

/// The image whose dreams these are.
pub struct Handover<'h> {
    pub image: &'h Path,
    pub store: [u8; 16],
}

impl Handover<'_> {
    /// Brings what a dream wrote to where it belongs. The digest says that it is what was merged.
    pub fn apply(&self, dream: &str, digest: &str) -> anyhow::Result<Handed> {
        let (header, written) = self.merged(dream, digest)?;
        self.bring(&header, written, true)
    }

    /// Brings one file that was left, over what was found there.
    pub fn take(&self, dream: &str, digest: &str, place: &Place) -> anyhow::Result<Handed> {
        let (header, mut written) = self.merged(dream, digest)?;
        let key = (place.directory.clone(), place.path.clone());
        let change = written.remove(&key).context("the dream did not change this file")?;
        let change = FileChange { original: place.found.clone(), ..change };
        self.bring(&header, Written::from([(key, change)]), true)
    }

    /// Puts back what was there before, where it is still as the dream wrote it.
    pub fn restore(&self, dream: &str) -> anyhow::Result<Handed> {
        let id: DreamId = dream.parse()?;
        let originals = Dreams::open_originals(self.image, self.store)?;
        let header = match originals.header(id) {
            Err(DreamError::Missing(_)) => return Ok(Handed::default()),
            header => header?,
        };
        let written = originals.written(id)?;
        ensure!(written.values().all(FileChange::is_sound), "what is kept of the originals of {id} is damaged");
        let handed = self.bring(&header, written, false)?;
        // Of a dream that was discarded nobody else would remove them.
        let is_discarded = matches!(Dreams::open(self.image, self.store)?.header(id), Err(DreamError::Missing(_)));
        if is_discarded && handed.left.is_empty() {
            originals.remove(id)?;
        }
        Ok(handed)
    }

    fn merged(&self, dream: &str, digest: &str) -> anyhow::Result<(Header, Written)> {
        let id: DreamId = dream.parse()?;
        let dreams = Dreams::open(self.image, self.store)?;
        let (header, written) = (dreams.header(id)?, dreams.written(id)?);
        if dream::digest_of(&written) != digest {
            bail!("the files of {id} are not those that were merged: it has gone on since");
        }
        ensure!(written.values().all(FileChange::is_sound), "the files of {id} are damaged");
        Ok((header, written))
    }

    fn bring(&self, header: &Header, written: Written, is_kept: bool) -> anyhow::Result<Handed> {
        let mut shares: BTreeMap<PathBuf, Vec<FileChange>> = BTreeMap::new();
        for ((directory, _), change) in written {
            shares.entry(directory).or_default().push(change);
        }
        let mut handed = Handed::default();
        for (directory, changes) in shares {
            let is_given = header.directories.iter().any(|seen| seen.is_layered && seen.host == directory);
            let done = match is_given {
                true => self.bring_to(header, &directory, &changes, is_kept),
                false => Err(anyhow::anyhow!("it is none that the dream was given to write to")),
            };
            match done {
                Ok(done) => handed.add(done),
                // Nothing of it was touched. The others need not wait for it.
                Err(error) => changes.iter().for_each(|change| handed.leave(change, None, &format!("{error:#}"))),
            }
        }
        Ok(handed)
    }

    fn bring_to(
        &self,
        header: &Header,
        directory: &Path,
        changes: &[FileChange],
        is_kept: bool,
    ) -> anyhow::Result<Handed> {
        let name = format!("{}-{:.8}", header.id(), format!("{:032x}", u128::from_be_bytes(self.store)));
        let mut failure = None;
        for _ in 0..TRIES {
            let tree = Tree::open_exactly(directory)?;
            let snapshot = Snapshot::of(tree, changes.iter().map(|change| change.path.as_path()));
            let compared = Compared::new(&snapshot, changes);
            let plan = compared.plan();
            apply::check_images(&plan)?;
            if is_kept && !plan.steps.is_empty() {
                let originals = Dreams::open_originals(self.image, self.store)?;
                originals.add_files(header, &taken_back(&snapshot, compared.to_do()))?;
            }
            if let Some(left) = apply::sift(&snapshot.tree, &name, &digests_of(changes))? {
                report::say(&format!(
                    "warning: {} holds what somebody wrote while {} was applied",
                    left.display(),
                    header.id()
                ));
            }
            match apply::apply_as(&[plan], &name) {
                Ok(_) => {
                    flush(&snapshot.tree)?;
                    return Ok(compared.handed());
                }
                // Somebody may have come in between: how do things stand now?
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| anyhow::anyhow!("it was not tried")))
    }
}

/// Of all that may lie aside: what is to be brought, and what it replaces.
fn digests_of(changes: &[FileChange]) -> BTreeSet<String> {
    let both = |change: &FileChange| -> [Option<String>; 2] {
        [change.digest.clone(), change.original.as_ref().and_then(|original| original.digest.clone())]
    };
    changes.iter().flat_map(both).flatten().collect()
}

impl Handed {
    fn add(&mut self, other: Handed) {
        self.applied += other.applied;
        self.more_left += other.more_left;
        let room = TOLD_MOST.saturating_sub(self.paths.len());
        self.paths.extend(other.paths.into_iter().take(room));
        for left in other.left {
            self.leave_told(left);
        }
    }

    fn leave_told(&mut self, left: LeftFile) {
        if self.left.len() < TOLD_MOST { self.left.push(left) } else { self.more_left += 1 }
    }

    fn leave(&mut self, change: &FileChange, found: Option<Original>, why: &str) {
        let FileChange { directory, path, .. } = change;
        self.leave_told(LeftFile {
            path: directory.join(path).to_string_lossy().into_owned(),
            base: original_text(change.original.as_ref()),
            dreamt: written_text(change),
            found: original_text(found.as_ref()),
            place: Place { directory: directory.clone(), path: path.clone(), found },
            why: why.into(),
        });
    }
}

fn written_text(change: &FileChange) -> String {
    let digest = change.digest.as_deref().unwrap_or_default();
    match &change.written {
        ChangeKind::File { bytes, mode } => format!("a file of {} bytes, mode {mode:o}, {digest}", bytes.len()),
        ChangeKind::Link { target } => format!("a link to {}", target.display()),
        ChangeKind::Directory { mode, .. } => format!("a directory, mode {mode:o}"),
        ChangeKind::Removed => "nothing".into(),
        ChangeKind::Unreadable { why } => format!("something that could not be kept: {why}"),
    }
}

fn original_text(original: Option<&Original>) -> String {
    let Some(Original { kind, mode, bytes, digest }) = original else { return "nothing".into() };
    let digest = digest.as_ref().map_or(String::new(), |digest| format!(", {digest}"));
    match kind {
        FileKind::File => format!("a file of {bytes} bytes, mode {mode:o}{digest}"),
        kind => format!("a {}, mode {mode:o}{digest}", kind.name()),
    }
}

/// What is at a path of a snapshot.
fn found_at(snapshot: &Snapshot, path: &Path) -> Option<Original> {
    let print = snapshot.before(path)?;
    let kind = match print.kind {
        Kind::File => FileKind::File,
        Kind::Link => FileKind::Link,
        Kind::Directory => FileKind::Directory,
        Kind::Other => FileKind::Other,
    };
    let digest = snapshot.digest(path).map(|digest| digest.text());
    Some(Original { kind, mode: print.mode, bytes: print.size, digest })
}

/// The changes that take these back.
fn taken_back<'c>(snapshot: &Snapshot, changes: impl Iterator<Item = &'c FileChange>) -> Written {
    let mut left_bytes = ORIGINAL_BYTES_MOST;
    let each = changes.map(|change| {
        let written = what_is_there(snapshot, &change.path, &mut left_bytes);
        let digest = match &written {
            ChangeKind::File { bytes, .. } => Some(digest::of(bytes).text()),
            ChangeKind::Link { target } => Some(digest::of(target.as_os_str().as_bytes()).text()),
            _ => None,
        };
        let (kind, mode, bytes) = match &change.written {
            ChangeKind::File { bytes, mode } => (Some(FileKind::File), *mode, bytes.len() as u64),
            ChangeKind::Link { target } => (Some(FileKind::Link), 0o777, target.as_os_str().len() as u64),
            ChangeKind::Directory { mode, .. } => (Some(FileKind::Directory), *mode, 0),
            ChangeKind::Removed | ChangeKind::Unreadable { .. } => (None, 0, 0),
        };
        let original = kind.map(|kind| Original { kind, mode, bytes, digest: change.digest.clone() });
        let (directory, path) = (change.directory.clone(), change.path.clone());
        ((directory.clone(), path.clone()), FileChange { directory, path, written, digest, original })
    });
    each.collect()
}

fn what_is_there(snapshot: &Snapshot, path: &Path, left_bytes: &mut u64) -> ChangeKind {
    let Some(print) = snapshot.before(path) else { return ChangeKind::Removed };
    let too_long = || ChangeKind::Unreadable { why: "what was there is too long to be kept".into() };
    match print.kind {
        Kind::Directory => ChangeKind::Directory { mode: print.mode, replaces: false },
        Kind::Other => ChangeKind::Unreadable { why: "what was there is neither a file nor a directory".into() },
        kind => match left_bytes.checked_sub(print.size) {
            None => too_long(),
            Some(left) => match snapshot.tree.content(path, kind, print.size) {
                Ok(bytes) if kind == Kind::Link => {
                    ChangeKind::Link { target: std::ffi::OsStr::from_bytes(&bytes).into() }
                }
                Ok(bytes) => {
                    *left_bytes = left;
                    ChangeKind::File { bytes, mode: print.mode }
                }
                Err(_) => too_long(),
            },
        },
    }
}

/// What was moved is on the disk before anybody writes down that it was.
fn flush(tree: &Tree) -> anyhow::Result<()> {
    let opened = openat(tree.root(), ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    opened.and_then(syncfs).with_context(|| format!("cannot flush {}", tree.host.display()))
}
