//! Looks at everything: each object's checksum and id, that every reference leads somewhere, that no object and no commit is
//! missing, every page of the image, and every frame of the log. Reads only. A file that is broken badly enough ends the process with a signal, so
//! whoever wants an answer in any case asks in a child process, after `system::fault::name_on_fault`.

use crate::error::StoreError;
use crate::pending::Committed;
use crate::reader::replay;
use crate::record::decode_history;
use crate::recover::replay_until;
use crate::state::State;
use crate::store::{Shared, Store};
use object::change::{Creation, ObjectId, Operation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use system::lmdb::{Header, ReadTransaction, read_headers, survey};

/// More than this are counted, but not told.
const TOLD: usize = 100;
/// How often progress is told.
const EVERY: u64 = 10_000;

/// How far the work is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    pub stage: &'static str,
    pub done: u64,
    pub total: u64,
}

/// What was looked at, and what is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    pub objects: u64,
    pub references: u64,
    pub commits: u64,
    pub frames: u64,
    pub found: u64,
    /// The first of what was found.
    pub findings: Vec<String>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.found == 0
    }

    fn add(&mut self, finding: impl ToString) {
        self.found += 1;
        if self.findings.len() < TOLD {
            self.findings.push(finding.to_string());
        }
    }
}

impl Store {
    /// Looks at everything. An error means that it could not be done; what is wrong with the store is in the report.
    pub fn check(&self, progress: &mut dyn FnMut(Progress)) -> Result<Report, StoreError> {
        self.begin_check()?.run(progress)
    }

    /// Takes the snapshot that is then looked at, whatever is written meanwhile.
    pub fn begin_check(&self) -> Result<Check<'_>, StoreError> {
        let shared = &self.shared;
        // No checkpoint at this moment, so that header, snapshot and pending commits belong together.
        let turn = shared.turn();
        let snapshot = shared.image.environment.read()?;
        let headers = read_headers(shared.image.path())?;
        let state = shared.image.state(&snapshot)?;
        let inside = shared.journal.lock();
        // After a failed checkpoint the newest transaction may hold what is still pending.
        let pending: Vec<Arc<Committed>> =
            inside.pending.commits().filter(|commit| commit.number > state.number).cloned().collect();
        drop((inside, turn));
        let (born, report) = (FxHashSet::default(), Report::default());
        Ok(Check { shared, headers, snapshot, state, pending, born, report })
    }
}

/// A look at everything that has begun.
pub struct Check<'s> {
    shared: &'s Shared,
    headers: [Header; 2],
    snapshot: ReadTransaction,
    state: State,
    pending: Vec<Arc<Committed>>,
    /// Objects that only the log knows.
    born: FxHashSet<ObjectId>,
    report: Report,
}

impl Check<'_> {
    pub fn run(mut self, progress: &mut dyn FnMut(Progress)) -> Result<Report, StoreError> {
        self.pages(progress)?;
        if !self.report.is_clean() {
            return Ok(self.report);
        }
        self.births();
        self.objects(progress)?;
        self.changed_objects(progress)?;
        self.history(progress)?;
        self.frames(progress)?;
        Ok(self.report)
    }

    /// First the pages, without LMDB: if they do not hold together, walking through them may end in a signal.
    fn pages(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let path = self.shared.image.path();
        let Some(header) = self.headers.iter().find(|header| header.number == self.snapshot.number()) else {
            self.report.add(format!("{}: transaction {} has no header", path.display(), self.snapshot.number()));
            return Ok(());
        };
        let mut tell = |done, total| progress(Progress { stage: "pages", done, total });
        for finding in survey(path, header, &mut tell)? {
            self.report.add(format!("{}: {finding}", path.display()));
        }
        Ok(())
    }

    fn births(&mut self) {
        let changes = self.pending.iter().flat_map(|commit| &commit.changes);
        let births = changes.filter(|change| matches!(change.operation, Operation::Create(_)));
        self.born = births.map(|change| change.object).collect();
    }

    fn objects(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let image = &self.shared.image;
        let mut cursor = self.snapshot.cursor(image.objects)?;
        let mut before: Option<Vec<u8>> = None;
        let mut entry = cursor.first()?;
        while let Some((key, value)) = entry {
            if before.as_deref().is_some_and(|before| before >= key) {
                self.report.add(format!("{}: keys are out of order", image.path().display()));
            }
            before = Some(key.into());
            self.report.objects += 1;
            if let Ok(key) = <[u8; 16]>::try_from(key) {
                let object = ObjectId::from_bytes(key);
                match image.object(object, value) {
                    Ok(creation) => {
                        references(self.shared, &self.snapshot, &self.born, &mut self.report, object, &creation)?
                    }
                    Err(error) => self.report.add(error.finding()),
                }
            } else {
                self.report.add(format!("{}: a key is no id", image.path().display()));
            }
            if self.report.objects.is_multiple_of(EVERY) {
                progress(Progress { stage: "objects", done: self.report.objects, total: self.state.objects });
            }
            entry = cursor.next_entry()?;
        }
        let (expected, found, counted) = (self.state.objects, self.report.objects, self.snapshot.count(image.objects)?);
        if expected != found || counted != found {
            self.report.add(format!("{}: {found} objects found of {expected}", image.path().display()));
        }
        Ok(())
    }

    /// Objects with what the log adds to them.
    fn changed_objects(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let mut changes: FxHashMap<ObjectId, Vec<(Arc<Committed>, usize)>> = FxHashMap::default();
        let mut objects = Vec::new();
        for commit in &self.pending {
            for (index, change) in commit.changes.iter().enumerate() {
                let later = changes.entry(change.object).or_default();
                if later.is_empty() {
                    objects.push(change.object);
                }
                later.push((commit.clone(), index));
            }
        }
        let image = &self.shared.image;
        let total = objects.len() as u64;
        for (done, object) in (0_u64..).zip(objects) {
            if done.is_multiple_of(EVERY) {
                progress(Progress { stage: "changes", done, total });
            }
            // As it was when this began: what came later may lead to what came later.
            let stored = self.snapshot.get(image.objects, &object.to_bytes())?;
            let stored = stored.map(|value| image.object(object, value)).transpose();
            match stored.and_then(|stored| replay(object, stored, &changes[&object])) {
                Ok(Some(creation)) => {
                    references(self.shared, &self.snapshot, &self.born, &mut self.report, object, &creation)?;
                }
                Ok(None) => {}
                Err(error) => self.report.add(error.finding()),
            }
        }
        Ok(())
    }

    fn history(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let image = &self.shared.image;
        let total = (self.state.number + 1).saturating_sub(self.state.first_number);
        let mut cursor = self.snapshot.cursor(image.history)?;
        let (mut entry, mut expected) = (cursor.first()?, self.state.first_number);
        while let Some((key, value)) = entry {
            let number = <[u8; 8]>::try_from(key).map_or(0, u64::from_be_bytes);
            if number != expected {
                self.report.add(format!("{}: commit {number} where {expected} must be", image.path().display()));
            }
            if let Err(error) = decode_history(number, value, image.path()) {
                self.report.add(error.finding());
            }
            self.report.commits += 1;
            expected = number.saturating_add(1);
            if self.report.commits.is_multiple_of(EVERY) {
                progress(Progress { stage: "history", done: self.report.commits, total });
            }
            entry = cursor.next_entry()?;
        }
        if self.report.commits != total {
            let found = self.report.commits;
            self.report.add(format!("{}: {found} commits found of {total}", image.path().display()));
        }
        Ok(())
    }

    /// Reads the log from the disk again: what is in memory may be better than what is there.
    fn frames(&mut self, progress: &mut dyn FnMut(Progress)) -> Result<(), StoreError> {
        let (shared, total) = (self.shared, self.pending.len() as u64);
        if shared.is_beside {
            // They were read on opening, while the writer held still; by now their room may be used again.
            self.report.frames = total;
            return Ok(());
        }
        // What was pending when this began may be applied, and its room used again. So it is looked at what the log holds
        // now, while no checkpoint is made; frames that are only queued are not expected on the disk.
        let _turn = shared.turn();
        let state = shared.reader.lock().state()?;
        let (log, written) = (&shared.journal.log, shared.journal.lock().written());
        let mut frames = 0_u64;
        let replayed = replay_until(log, state.applied, written, state.number, |_, _| {
            frames += 1;
            if frames.is_multiple_of(EVERY) {
                progress(Progress { stage: "log", done: frames, total });
            }
            Ok(())
        });
        self.report.frames = frames;
        if let Err(error) = replayed {
            self.report.add(error.finding());
        }
        Ok(())
    }
}

fn references(
    shared: &Shared,
    snapshot: &ReadTransaction,
    born: &FxHashSet<ObjectId>,
    report: &mut Report,
    object: ObjectId,
    creation: &Creation,
) -> Result<(), StoreError> {
    let mut targets = Vec::new();
    creation.references(&mut |target| targets.push(target));
    for target in targets {
        report.references += 1;
        if !born.contains(&target) && snapshot.get(shared.image.objects, &target.to_bytes())?.is_none() {
            report.add(format!("object {object} refers to {target}, which does not exist"));
        }
    }
    Ok(())
}
