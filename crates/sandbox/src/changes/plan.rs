//! From what a sandbox says it changed to what would have to be done to the real directory. The one reading of it that
//! `--diff` shows and `--apply` does.

use super::snapshot::Snapshot;
use super::tree::{Kind, is_below, leads_below};
use crate::outcome::{ChangeKind, Changed};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Of the bits of a mode only these are taken from a program: nothing of its becomes setuid.
const MODE_BITS: u32 = 0o777;

/// One thing to do. Parents come before what is in them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// With all that is below it.
    Remove(PathBuf),
    MakeDirectory(PathBuf, u32),
    SetMode(PathBuf, u32),
    /// Over what is there, if that is a file or a link.
    Write(PathBuf, Leaf),
}

/// A file or a link, as it is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leaf {
    File { bytes: Vec<u8>, mode: u32 },
    Link { target: PathBuf },
}

pub struct Plan<'s> {
    pub snapshot: &'s Snapshot,
    pub steps: Vec<Step>,
    /// What is never applied, with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

impl Step {
    pub fn path(&self) -> &Path {
        let (Step::Remove(path) | Step::MakeDirectory(path, _) | Step::SetMode(path, _) | Step::Write(path, _)) = self;
        path
    }
}

impl<'s> Plan<'s> {
    pub fn new(snapshot: &'s Snapshot, changes: impl Iterator<Item = Changed>) -> Plan<'s> {
        let mut plan = Plan { snapshot, steps: Vec::new(), refused: Vec::new() };
        let mut sorted: BTreeMap<PathBuf, ChangeKind> = BTreeMap::new();
        for change in changes {
            if !is_below(&change.path) {
                plan.refused.push((change.path, "it does not lie below the directory".into()));
            } else if sorted.insert(change.path.clone(), change.kind).is_some() {
                plan.refused.push((change.path, "it is named twice".into()));
            }
        }
        let mut gone = BTreeSet::new();
        for (path, kind) in sorted {
            plan.add(path, kind, &mut gone);
        }
        plan
    }

    /// `gone` holds what was removed with all that was in it: below it there was nothing.
    fn add(&mut self, path: PathBuf, kind: ChangeKind, gone: &mut BTreeSet<PathBuf>) {
        let is_gone = path.ancestors().skip(1).any(|parent| gone.contains(parent));
        let before = self.snapshot.before(&path).filter(|_| !is_gone);
        let (was, old_mode) = (before.map(|print| print.kind), before.map(|print| print.mode & MODE_BITS));
        if was == Some(Kind::Other) {
            self.refused.push((path, "it is neither a file nor a directory".into()));
            return;
        }
        match kind {
            ChangeKind::Removed => {
                if was.is_some() {
                    gone.insert(path.clone());
                    self.steps.push(Step::Remove(path));
                }
            }
            ChangeKind::Directory { mode, replaces } => {
                let mode = mode & MODE_BITS;
                match was {
                    Some(Kind::Directory) if !replaces => {
                        if old_mode != Some(mode) {
                            self.steps.push(Step::SetMode(path, mode));
                        }
                        return;
                    }
                    Some(_) => {
                        gone.insert(path.clone());
                        self.steps.push(Step::Remove(path.clone()));
                    }
                    None => {}
                }
                self.steps.push(Step::MakeDirectory(path, mode));
            }
            ChangeKind::Unreadable { why } => self.refused.push((path, why)),
            ChangeKind::Link { target } if !leads_below(&path, &target) => {
                self.refused.push((path, "it is a link that leads out of the directory".into()));
            }
            ChangeKind::Link { target } => self.add_leaf(path, was, Leaf::Link { target }, gone),
            ChangeKind::File { bytes, mode } => {
                self.add_leaf(path, was, Leaf::File { bytes, mode: mode & MODE_BITS }, gone);
            }
        }
    }

    fn add_leaf(&mut self, path: PathBuf, was: Option<Kind>, leaf: Leaf, gone: &mut BTreeSet<PathBuf>) {
        if was == Some(Kind::Directory) {
            gone.insert(path.clone());
            self.steps.push(Step::Remove(path.clone()));
        } else if was.is_some() && self.is_what_was(&path, &leaf) {
            return;
        }
        self.steps.push(Step::Write(path, leaf));
    }

    /// What was only touched is not changed.
    fn is_what_was(&self, path: &Path, leaf: &Leaf) -> bool {
        let mode_before = self.snapshot.before(path).map(|before| before.mode & MODE_BITS);
        match leaf {
            Leaf::File { bytes, mode } => mode_before == Some(*mode) && self.snapshot.holds(path, Kind::File, bytes),
            Leaf::Link { target } => self.snapshot.holds(path, Kind::Link, target.as_os_str().as_bytes()),
        }
    }

    /// What somebody else changed since the program began, of all that the plan would touch.
    pub fn conflicts(&self) -> Vec<PathBuf> {
        let mut conflicts = BTreeSet::new();
        let mut gone: Vec<&Path> = Vec::new();
        for step in &self.steps {
            let path = step.path();
            let is_below_gone = gone.iter().any(|parent| path.starts_with(parent));
            match step {
                Step::Remove(_) => {
                    gone.push(path);
                    conflicts.extend(self.snapshot.changed_below(path));
                }
                // What was there is looked at with the directory that is removed.
                _ if is_below_gone => {}
                _ if self.snapshot.is_unchanged(path) => {}
                _ => {
                    conflicts.insert(path.to_path_buf());
                }
            }
        }
        conflicts.into_iter().collect()
    }
}
