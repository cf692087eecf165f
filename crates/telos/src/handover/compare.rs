//! How the files that a dream changed stand now, compared with what it saw and with what it wrote: which may be done, which are
//! done, and which are left alone.

use super::{Handed, TOLD_MOST, found_at};
use dream::{FileChange, FileKind, Original};
use sandbox::changes::{Kind, Plan, Snapshot};
use sandbox::outcome::{ChangeKind, Changed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bits of a mode that are compared.
const MODE_BITS: u32 = 0o777;
const CHANGED: &str = "it was changed since the dream saw it";

/// How one file stands.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Stand {
    /// As the dream saw it.
    Before,
    /// As the dream wrote it.
    Done,
    /// Otherwise, and why it is left alone.
    Left(String),
}

pub struct Compared<'c> {
    snapshot: &'c Snapshot,
    /// By path, so that directories come before what is in them.
    changes: BTreeMap<&'c Path, (&'c FileChange, Stand)>,
}

impl<'c> Compared<'c> {
    pub fn new(snapshot: &'c Snapshot, changes: &'c [FileChange]) -> Compared<'c> {
        let mut compared = Compared { snapshot, changes: BTreeMap::new() };
        for change in changes {
            compared.changes.insert(&change.path, (change, Stand::Left(String::new())));
        }
        let stands: Vec<(&Path, Stand)> =
            compared.changes.values().map(|(change, _)| (change.path.as_path(), compared.stand(change))).collect();
        for (path, stand) in stands {
            compared.set(path, stand);
        }
        compared.leave_homeless();
        compared.leave_refused();
        compared
    }

    /// What is to be done.
    pub fn to_do(&self) -> impl Iterator<Item = &'c FileChange> {
        self.changes.values().filter(|(_, stand)| *stand == Stand::Before).map(|(change, _)| *change)
    }

    pub fn plan(&self) -> Plan<'c> {
        let changed =
            |change: &FileChange| Changed { grant: 0, path: change.path.clone(), kind: change.written.clone() };
        Plan::new(self.snapshot, self.to_do().map(changed))
    }

    /// What is told when it is done.
    pub fn handed(&self) -> Handed {
        let mut handed = Handed::default();
        for (change, stand) in self.changes.values() {
            match stand {
                Stand::Left(why) => handed.leave(change, found_at(self.snapshot, &change.path), why),
                Stand::Done => handed.applied += 1,
                Stand::Before => {
                    handed.applied += 1;
                    if handed.paths.len() < TOLD_MOST {
                        handed.paths.push(change.directory.join(&change.path).to_string_lossy().into_owned());
                    }
                }
            }
        }
        handed
    }

    fn set(&mut self, path: &Path, stand: Stand) {
        if let Some((_, place)) = self.changes.get_mut(path) {
            *place = stand;
        }
    }

    fn stand(&self, change: &FileChange) -> Stand {
        if let ChangeKind::Unreadable { why } = &change.written {
            return Stand::Left(why.clone());
        }
        let found = match self.snapshot.tree.look(&change.path) {
            Err(error) => return Stand::Left(format!("it cannot be reached: {}", std::io::Error::from(error))),
            Ok(found) if found.is_some() != self.snapshot.before(&change.path).is_some() => {
                return Stand::Left(CHANGED.into());
            }
            Ok(_) => found_at(self.snapshot, &change.path),
        };
        if self.is_written(change, found.as_ref()) {
            Stand::Done
        } else if is_original(change, found.as_ref()) {
            Stand::Before
        } else {
            Stand::Left(CHANGED.into())
        }
    }

    fn is_written(&self, change: &FileChange, found: Option<&Original>) -> bool {
        let is = |kind, mode: Option<u32>| {
            let has_mode = |found: &Original| mode.is_none_or(|mode| found.mode & MODE_BITS == mode & MODE_BITS);
            found.is_some_and(|found| found.kind == kind && has_mode(found))
        };
        let has_content = || found.is_some_and(|found| found.digest.is_some() && found.digest == change.digest);
        match &change.written {
            ChangeKind::File { mode, .. } => is(FileKind::File, Some(*mode)) && has_content(),
            ChangeKind::Link { .. } => is(FileKind::Link, None) && has_content(),
            ChangeKind::Directory { mode, replaces } => {
                is(FileKind::Directory, Some(*mode)) && (!replaces || self.holds_nothing_else(&change.path))
            }
            ChangeKind::Removed => found.is_none(),
            ChangeKind::Unreadable { .. } => false,
        }
    }

    /// Whether a directory that was to be emptied is: all that is in it the dream put there.
    fn holds_nothing_else(&self, directory: &Path) -> bool {
        let is_the_dreams = |path: &PathBuf| {
            let change = self.changes.get(path.as_path()).map(|(change, _)| &change.written);
            change.is_some_and(|written| *written != ChangeKind::Removed)
        };
        self.snapshot.tree.names(directory).iter().all(is_the_dreams)
    }

    /// What would come into a directory that is not there, and is not made.
    fn leave_homeless(&mut self) {
        let paths: Vec<&'c Path> = self.changes.keys().copied().collect();
        for path in paths {
            let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { continue };
            let is_made = |(change, stand): &(&FileChange, Stand)| {
                *stand == Stand::Before && matches!(change.written, ChangeKind::Directory { .. })
            };
            let is_there = || self.snapshot.before(parent).is_some_and(|print| print.kind == Kind::Directory);
            let (change, stand) = &self.changes[path];
            let needs_one = *stand == Stand::Before && change.written != ChangeKind::Removed;
            if needs_one && !self.changes.get(parent).is_some_and(is_made) && !is_there() {
                self.set(path, Stand::Left("the directory that it would be in is not there".into()));
            }
        }
    }

    /// What no plan may do, and what stands in its way below a directory that goes. Each round leaves something more alone.
    fn leave_refused(&mut self) {
        let mut left = usize::MAX;
        while self.to_do().count() < left {
            left = self.to_do().count();
            let plan = self.plan();
            let conflicts = plan.conflicts();
            if plan.refused.is_empty() && conflicts.is_empty() {
                return;
            }
            for (path, why) in &plan.refused {
                self.set(path, Stand::Left(why.clone()));
            }
            for conflict in conflicts {
                let above: Vec<PathBuf> = self
                    .to_do()
                    .filter(|change| conflict.starts_with(&change.path))
                    .map(|each| each.path.clone())
                    .collect();
                for path in above {
                    let why = format!("{} was changed since the dream saw it", conflict.display());
                    self.set(&path, Stand::Left(if path == conflict { CHANGED.into() } else { why }));
                }
            }
            self.leave_homeless();
        }
    }
}

/// Whether what is there is what the dream saw. What nobody knows the dream saw never is.
fn is_original(change: &FileChange, found: Option<&Original>) -> bool {
    match (&change.original, found) {
        (None, None) => true,
        (Some(original), Some(found)) if original.kind == found.kind => match original.kind {
            FileKind::File => {
                original.digest.is_some()
                    && original.digest == found.digest
                    && original.mode & MODE_BITS == found.mode & MODE_BITS
            }
            FileKind::Link => original.digest.is_some() && original.digest == found.digest,
            // What is in it has its own; its mode counts where that is what is changed.
            FileKind::Directory => {
                let is_mode = matches!(change.written, ChangeKind::Directory { replaces: false, .. });
                !is_mode || original.mode & MODE_BITS == found.mode & MODE_BITS
            }
            FileKind::Other => false,
        },
        _ => false,
    }
}
