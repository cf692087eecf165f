//! What was in a directory before a program began: without it, nobody could tell later what somebody else changed
//! meanwhile. Taken before the start, so a change between that and the program's first look is found as well.

use super::digest::Digest;
use super::tree::{Fingerprint, Kind, Tree};
use crate::error::SandboxError;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A directory that holds more is none that somebody wants to see the changes of.
const ENTRIES_MAX: usize = 1_000_000;

pub struct Snapshot {
    pub tree: Tree,
    entries: BTreeMap<PathBuf, Fingerprint>,
}

impl Snapshot {
    pub fn take(host: &Path) -> Result<Snapshot, SandboxError> {
        let tree = Tree::open(host)?;
        let now = kernel_time();
        let mut entries = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            for path in tree.names(&directory) {
                // What vanished since it was listed was not there.
                let Ok(Some(mut print)) = tree.look(&path) else { continue };
                if print.is_fresh(now) {
                    print = tree.with_content(&path, print);
                }
                if tree.is_own(&print) {
                    open.push(path.clone());
                }
                entries.insert(path, print);
            }
            if entries.len() > ENTRIES_MAX {
                let why = format!("it holds more than {ENTRIES_MAX} files; name less of it");
                return Err(SandboxError::Grant { path: host.into(), why });
            }
        }
        Ok(Snapshot { tree, entries })
    }

    /// Only of these paths, and of what they lie in: for who knows what is to be touched.
    pub fn of<'p>(tree: Tree, paths: impl IntoIterator<Item = &'p Path>) -> Snapshot {
        let now = kernel_time();
        let mut entries = BTreeMap::new();
        for path in paths.into_iter().flat_map(Path::ancestors).filter(|path| !path.as_os_str().is_empty()) {
            if entries.contains_key(path) {
                continue;
            }
            // What cannot be reached is not there for whoever goes by this.
            let Ok(Some(print)) = tree.look(path) else { continue };
            let print = if print.is_fresh(now) { tree.with_content(path, print) } else { print };
            entries.insert(path.to_path_buf(), print);
        }
        Snapshot { tree, entries }
    }

    pub fn before(&self, path: &Path) -> Option<&Fingerprint> {
        self.entries.get(path)
    }

    /// It and all that was below it.
    pub fn below<'s>(&'s self, path: &'s Path) -> impl Iterator<Item = (&'s PathBuf, &'s Fingerprint)> {
        self.entries.range(path.to_path_buf()..).take_while(move |(each, _)| each.starts_with(path))
    }

    /// Whether what is there now is what was there before, or nothing is and was.
    pub fn is_unchanged(&self, path: &Path) -> bool {
        self.is_unchanged_at(path, path)
    }

    /// The same where it may have been moved to another place of the tree.
    fn is_unchanged_at(&self, path: &Path, place: &Path) -> bool {
        match (self.before(path), self.tree.look(place)) {
            (Some(before), Ok(Some(now))) => before.is_still(&self.tree, place, &now),
            (None, Ok(None)) => true,
            _ => false,
        }
    }

    /// Whether what was there before is such a file or link, and still is.
    pub fn holds(&self, path: &Path, kind: Kind, content: &[u8]) -> bool {
        let is_such = self.before(path).is_some_and(|before| before.kind == kind);
        let old = || self.tree.content(path, kind, content.len() as u64).ok();
        is_such && self.is_unchanged(path) && old().is_some_and(|old| old == content)
    }

    /// Of what was in a file or a link before; none of one that somebody has changed since, for nobody knows any more.
    pub fn digest(&self, path: &Path) -> Option<Digest> {
        let before = self.before(path).filter(|before| matches!(before.kind, Kind::File | Kind::Link))?;
        if before.content.is_some() {
            return before.content.clone();
        }
        let digest = self.tree.digest(path, before.kind).ok()?;
        // Looked at after it was read: nobody was there in between.
        self.is_unchanged(path).then_some(digest)
    }

    /// Those of a directory, or the one file, that are not what they were: changed, gone or new.
    pub fn changed_below(&self, path: &Path) -> Vec<PathBuf> {
        self.changed_below_at(path, path)
    }

    /// The same of a directory that was moved to another place of the tree; they are named as they were before.
    pub fn changed_below_at(&self, path: &Path, place: &Path) -> Vec<PathBuf> {
        let moved =
            |each: &Path| each.strip_prefix(path).map_or_else(|_| each.to_path_buf(), |rest| joined(place, rest));
        let is_changed = |each: &&PathBuf| !self.is_unchanged_at(each, &moved(each));
        let mut changed: Vec<PathBuf> = self.below(path).map(|(each, _)| each).filter(is_changed).cloned().collect();
        let mut open: Vec<PathBuf> = vec![path.to_path_buf()];
        while let Some(directory) = open.pop() {
            if self.before(&directory).is_some_and(|before| self.tree.is_own(before)) {
                let names = self.tree.names(&moved(&directory));
                let names = names.iter().filter_map(|name| Some(directory.join(name.file_name()?)));
                let names: Vec<PathBuf> = names.collect();
                changed.extend(names.iter().filter(|each| self.before(each).is_none()).cloned());
                open.extend(names);
            }
        }
        changed
    }
}

/// By the clock that the kernel stamps files with; asked before the first of them is looked at.
fn kernel_time() -> (i64, u64) {
    let clock = clock_gettime(ClockId::RealtimeCoarse);
    (clock.tv_sec, clock.tv_nsec as u64)
}

/// Without the slash at the end that nothing leaves behind.
fn joined(place: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { place.to_path_buf() } else { place.join(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_changed_gone_or_new_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("d")).unwrap();
        for name in ["same", "d/gone", "d/other", "replaced"] {
            fs::write(at(name), "1").unwrap();
        }
        let snapshot = Snapshot::take(directory.path()).unwrap();
        assert!(["same", "d", "d/gone", "nothing"].iter().all(|name| snapshot.is_unchanged(Path::new(name))));
        // The same length, within the same tick of the clock.
        fs::write(at("d/other"), "2").unwrap();
        fs::remove_file(at("d/gone")).unwrap();
        fs::write(at("d/new"), "").unwrap();
        fs::write(at("copy"), "1").unwrap();
        fs::rename(at("copy"), at("replaced")).unwrap();
        let mut changed = snapshot.changed_below(Path::new("d"));
        changed.sort();
        assert_eq!(changed, ["d/gone", "d/new", "d/other"].map(PathBuf::from));
        let aside = at("aside");
        fs::rename(at("d"), aside).unwrap();
        let mut moved = snapshot.changed_below_at(Path::new("d"), Path::new("aside"));
        moved.sort();
        assert_eq!(moved, changed, "a move changes nothing of what is below");
        assert!(!snapshot.is_unchanged(Path::new("replaced")) && snapshot.is_unchanged(Path::new("same")));
    }
}
