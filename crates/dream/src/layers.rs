//! The directories that a dream sees through layers of its own: what was there before it, what it had written there when it
//! was left, and what of its writing is kept.
//!
//! What comes out of a layer is hostile; `sandbox::changes` reads it, and follows nothing in it. Nothing here writes to a
//! directory of the host.

use crate::error::DreamError;
use crate::kept::{FileChange, FileKind, Original, Recording};
use sandbox::changes::{Fingerprint, Kind, Snapshot, digest};
use sandbox::outcome::{ChangeKind, Changed};
use sandbox::{Access, Grant, Order};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Of one dream; whoever changes more did not mean to.
const CHANGES_MOST: usize = 100_000;
/// Of originals that are read for their digests.
const ORIGINAL_BYTES_MOST: u64 = 4 << 30;
/// Bits of a mode that are compared.
const MODE_BITS: u32 = 0o777;
/// So many of what is not kept are named.
const NAMED_MOST: usize = 3;

/// By directory and path; of several changes of one path the last.
pub type Written = BTreeMap<(PathBuf, PathBuf), FileChange>;

pub struct Layers {
    before: Vec<Before>,
    left: Written,
}

/// A directory that is layered.
struct Before {
    /// Its place in the order.
    grant: usize,
    host: PathBuf,
    snapshot: Snapshot,
}

impl Layers {
    /// Looks at the directories, and lays into the layers of the order what the dream had left there.
    pub fn new(order: &mut Order, left: Written) -> Result<Layers, DreamError> {
        let layered = |(_, grant): &(usize, &Grant)| grant.access == Access::Layered;
        let taken = order.view.grants.iter().enumerate().filter(layered).map(|(number, grant)| {
            let snapshot = Snapshot::take(&grant.host).map_err(DreamError::Seal)?;
            Ok(Before { grant: number, host: grant.host.clone(), snapshot })
        });
        let before = taken.collect::<Result<Vec<_>, DreamError>>()?;
        for each in &before {
            order.view.written.extend(each.laid(&left));
        }
        Ok(Layers { before, left })
    }

    /// Writes down what is other than what was written down before. In words, what of it could not be kept.
    pub fn write_down(self, changes: Vec<Changed>, recording: &mut Recording) -> Result<Option<String>, DreamError> {
        let mut shares: BTreeMap<usize, Vec<Changed>> = BTreeMap::new();
        for change in changes {
            shares.entry(change.grant).or_default().push(change);
        }
        let (mut now, mut left_bytes) = (Written::new(), ORIGINAL_BYTES_MOST);
        for before in &self.before {
            let share = shares.remove(&before.grant).unwrap_or_default();
            now.extend(before.compare(share, &self.left, &mut left_bytes));
        }
        for (directory, path) in self.left.keys().filter(|key| !now.contains_key(*key)) {
            recording.append_file(&FileChange::none(directory, path))?;
        }
        for (key, change) in &now {
            if self.left.get(key) != Some(change) {
                recording.append_file(change)?;
            }
        }
        Ok(not_kept(&now))
    }
}

impl Before {
    /// What the layer holds from the beginning. Directories on the way are as they are on the host.
    fn laid(&self, left: &Written) -> Vec<Changed> {
        let (mut laid, mut made, mut hidden) = (Vec::new(), BTreeSet::from([PathBuf::new()]), BTreeSet::new());
        for ((_, path), change) in left.iter().filter(|((directory, _), _)| *directory == self.host) {
            let is_hidden = path.ancestors().skip(1).any(|parent| hidden.contains(parent));
            match &change.written {
                ChangeKind::Unreadable { .. } => continue,
                ChangeKind::Removed if is_hidden => continue,
                ChangeKind::Directory { replaces: false, .. } => {}
                _ => drop(hidden.insert(path.clone())),
            }
            let ancestors: Vec<&Path> = path.ancestors().skip(1).filter(|parent| !made.contains(*parent)).collect();
            for parent in ancestors.into_iter().rev() {
                let mode = self.snapshot.before(parent).map_or(0o755, |print| print.mode);
                let kind = ChangeKind::Directory { mode, replaces: false };
                laid.push(Changed { grant: self.grant, path: parent.into(), kind });
                made.insert(parent.to_path_buf());
            }
            made.insert(path.clone());
            laid.push(Changed { grant: self.grant, path: path.clone(), kind: change.written.clone() });
        }
        laid
    }

    fn compare(&self, share: Vec<Changed>, left: &Written, left_bytes: &mut u64) -> Written {
        let sorted: BTreeMap<PathBuf, ChangeKind> =
            share.into_iter().map(|change| (change.path, change.kind)).collect();
        let mut told: BTreeMap<PathBuf, ChangeKind> = BTreeMap::new();
        let mut gone: BTreeSet<PathBuf> = BTreeSet::new();
        for (path, kind) in sorted {
            let is_below_gone = path.ancestors().skip(1).any(|parent| gone.contains(parent));
            let before = self.snapshot.before(&path);
            let may_be_what_was = !is_below_gone || kind == ChangeKind::Removed;
            if may_be_what_was && self.is_what_was(&path, before, &kind) {
                continue;
            }
            let was_directory = before.is_some_and(|print| print.kind == Kind::Directory);
            let hides = match kind {
                ChangeKind::Directory { replaces, .. } => replaces,
                ChangeKind::Unreadable { .. } => false,
                _ => was_directory,
            };
            if hides {
                gone.insert(path.clone());
            }
            told.insert(path, kind);
        }
        // With a directory all goes that was in it.
        for directory in &gone {
            for (path, _) in self.snapshot.below(directory) {
                told.entry(path.clone()).or_insert(ChangeKind::Removed);
            }
        }
        if told.len() > CHANGES_MOST {
            let why = format!("more than {CHANGES_MOST} files were changed there, so that none of them is kept");
            told = BTreeMap::from([(PathBuf::new(), ChangeKind::Unreadable { why })]);
        }
        let each = told.into_iter().map(|(path, written)| self.described(path, written, left, left_bytes));
        each.map(|change| ((change.directory.clone(), change.path.clone()), change)).collect()
    }

    /// What was only touched, or passed on the way to something, is not changed.
    fn is_what_was(&self, path: &Path, before: Option<&Fingerprint>, kind: &ChangeKind) -> bool {
        let has_mode = |mode: &u32| before.is_some_and(|print| print.mode & MODE_BITS == mode & MODE_BITS);
        match kind {
            ChangeKind::File { bytes, mode } => has_mode(mode) && self.snapshot.holds(path, Kind::File, bytes),
            ChangeKind::Link { target } => self.snapshot.holds(path, Kind::Link, target.as_os_str().as_bytes()),
            ChangeKind::Directory { mode, replaces } => {
                !replaces && has_mode(mode) && before.is_some_and(|print| print.kind == Kind::Directory)
            }
            ChangeKind::Removed => before.is_none(),
            ChangeKind::Unreadable { .. } => false,
        }
    }

    /// The original of what was changed before this dream went on is the one that it saw first.
    fn described(&self, path: PathBuf, written: ChangeKind, left: &Written, left_bytes: &mut u64) -> FileChange {
        let key = (self.host.clone(), path);
        let known = left.get(&key).map(|change| change.original.clone());
        let original = known.unwrap_or_else(|| self.original(&key.1, left_bytes));
        let (directory, path) = key;
        let digest = match &written {
            ChangeKind::File { bytes, .. } => Some(digest::of(bytes).text()),
            ChangeKind::Link { target } => Some(digest::of(target.as_os_str().as_bytes()).text()),
            _ => None,
        };
        FileChange { directory, path, written, digest, original }
    }

    fn original(&self, path: &Path, left_bytes: &mut u64) -> Option<Original> {
        let print = self.snapshot.before(path)?;
        let kind = match print.kind {
            Kind::File => FileKind::File,
            Kind::Link => FileKind::Link,
            Kind::Directory => FileKind::Directory,
            Kind::Other => FileKind::Other,
        };
        let digest = match left_bytes.checked_sub(print.size) {
            Some(left) if matches!(kind, FileKind::File | FileKind::Link) => {
                *left_bytes = left;
                self.snapshot.digest(path).map(|digest| digest.text())
            }
            _ => None,
        };
        Some(Original { kind, mode: print.mode, bytes: print.size, digest })
    }
}

fn not_kept(now: &Written) -> Option<String> {
    let lost = now.values().filter_map(|change| match &change.written {
        ChangeKind::Unreadable { why } => Some(format!("{}: {why}", change.directory.join(&change.path).display())),
        _ => None,
    });
    let lost: Vec<String> = lost.collect();
    let more = if lost.len() > NAMED_MOST { "; and more" } else { "" };
    let named = lost.iter().take(NAMED_MOST).cloned().collect::<Vec<_>>().join("; ");
    (!lost.is_empty()).then(|| format!("{} of the files that it wrote could not be kept: {named}{more}", lost.len()))
}
