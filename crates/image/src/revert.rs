//! Taking one commit back, in a new one, through the merge kernel's undo. A place that a later commit wrote to stays as it
//! is, and is told.
//!
//! The kernel's ledger lives only while forks are open, and there were none when the commit was made. So the ledger is made
//! again: the objects of the commit are taken back to the moment before it, by what the history says takes commits back;
//! a fork is opened there, and one behind the commit, as the kernel asks; then all that was done to these objects since is
//! told to it again.
//!
//! **What was taken back before.** Had two commits written to a place, and the first was taken back first, the place was left
//! alone. So when the second one goes, what comes back is what would be there without both: the kernel is told of the
//! first too, from before it, and that it is gone. The same with what took something back since, which counts for no later write.
//!
//! **What the kernel cannot say.** An object that became one of another kind got its content as one datum, and a sequence
//! may change the width of its units; to the kernel the form of an object never changes. Such an object is taken back
//! whole, by the history's inverse, if no later commit touched it; else it is left alone.
//!
//! **Merges.** What a dream did is taken back; what the image wrote down about the merge stays, and says so.
//!
//! **Rings of protos.** The kernel lets none be closed, but a machine is born with one: the Lobby inherits from what
//! inherits from Object, and Object from the Lobby. Protos that were in a ring before the commit are taken back by the
//! history's inverse; those that would close another, through what later commits did, are left alone.

use crate::error::ImageError;
use crate::image::{Cause, Image};
use crate::landmarks::{Landmarks, slot};
use crate::merging::{Note, Withdrawal, note_of, place_text};
use crate::past::{Impossible, Past};
use crate::retell::{Trouble, blame, line_of, nothing, retell};
use crate::taken_back::{self, TakenBack};
use language::Interrupt;
use merge::{Conflict, Effect, Ledger, NoReconciler, Outcome, Policy, Refusal, Span, Status, Violation};
use object::change::{ActorId, Change, ChangeId, Datum, Line, ObjectId, Operation, Preds, Run, Time};
use rustc_hash::FxHashSet;
use store::{Commit, Store, StoreError, Ticket};

/// What a revert did.
pub struct Reverted {
    /// None if there was nothing left to take back.
    pub ticket: Option<Ticket>,
    /// Places that a later commit wrote to, and that were left alone.
    pub contended: Vec<(ObjectId, String)>,
    /// What the withdrawal wants to have done.
    pub added: Option<ObjectId>,
}

impl Image {
    /// Takes back what a commit did, except where later commits wrote to the same place. Objects that it made stay: if
    /// nothing refers to them any more, nobody sees them. Looks through all commits since; the machine's interrupt stops it.
    pub fn revert(&mut self, number: u64, cause: &Cause) -> Result<Reverted, ImageError> {
        self.revert_with(number, &Withdrawal::default(), cause)
    }

    /// The same of a merge, with what becomes of its deliveries.
    pub fn revert_with(&mut self, number: u64, withdrawal: &Withdrawal, cause: &Cause) -> Result<Reverted, ImageError> {
        let commit = self.store.commit_at(number)?.ok_or(ImageError::NoCommit(number))?;
        let note = note_of(&commit, self.store.actor())?;
        let books = note.as_ref().map_or(u64::MAX, |note| note.books);
        let mut undone = Undoing::new(&self.store, commit, books, &self.vm().interrupt())?.undone()?;
        if let Some(note) = note {
            undone.changes.extend(self.marks(&note)?);
        }
        let mut added = None;
        // What was taken back before has nothing left to withdraw.
        if !undone.changes.is_empty() {
            let withdrawn;
            (withdrawn, added) = withdrawal.written(&self.store, &undone.changes)?;
            undone.changes.extend(withdrawn);
        }
        if !undone.changes.is_empty() {
            undone.changes.push((Landmarks::of(&self.store)?.root, taken_back::operation(number)));
        }
        let ticket = self.adopt(cause, undone.changes)?;
        Ok(Reverted { ticket, contended: undone.contended, added })
    }

    /// What was written down about a merge stays, and says that it was taken back. A conflict that somebody decided stays
    /// decided.
    fn marks(&self, note: &Note) -> Result<Vec<(ObjectId, Operation)>, ImageError> {
        let mut marks = Vec::new();
        for record in note.opened.iter().chain([&note.record]) {
            let status = self.store.read(*record)?.and_then(|record| slot(&record, "status").cloned());
            if [Some("open".into()), Some("merged".into())].contains(&status) {
                marks.push((*record, Operation::set_slot("status", "undone")));
            }
        }
        Ok(marks)
    }
}

/// The actor of an undo, in a ledger that is thrown away: nobody else has it. Those below it open forks there.
const UNDO: ActorId = ActorId::MAX;
/// Where the undo meets what live did since, live stays.
const POLICY: Policy = Policy::LiveWins;

/// Why protos were left alone that nobody wrote to since.
const CIRCULAR: &str = "protos, which would lead back to itself through what later commits did,";

#[derive(Default)]
struct Undone {
    changes: Vec<(ObjectId, Operation)>,
    contended: Vec<(ObjectId, String)>,
}

/// Why an attempt failed.
enum Failure {
    /// Of this object the kernel cannot say what to do.
    Reshaped(ObjectId),
    /// What was taken back would close a circle of protos with what others did.
    Circular(ObjectId),
    Store(StoreError),
    Refused(Refusal),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        match trouble {
            Trouble::Reshaped(object) => Failure::Reshaped(object),
            Trouble::Store(error) => Failure::Store(error),
            Trouble::Refused(refusal) => Failure::Refused(refusal),
        }
    }
}

/// A commit that is being taken back.
struct Undoing<'s> {
    store: &'s Store,
    commit: Commit,
    /// It was taken back before.
    is_done: bool,
    /// What was done to the objects of the commit since the first one that is gone, and behind it, commit by commit, the oldest
    /// first.
    earlier: Vec<Page>,
    later: Vec<Page>,
    /// The changes of those that are gone.
    gone: Vec<Span>,
    /// Just before the first of all of these.
    past: Past<'s>,
    time: Time,
    reshaped: FxHashSet<ObjectId>,
    /// Objects whose protos the kernel leaves alone, for they would lead back to them.
    circular: FxHashSet<ObjectId>,
    /// All objects whose protos were changed since.
    relinked: FxHashSet<ObjectId>,
}

/// What another commit did to the same objects.
struct Page {
    number: u64,
    changes: Vec<Change>,
    /// It was taken back, or took one back.
    is_gone: bool,
}

/// Forks that tell what is done between them from all else.
struct Forks<'l> {
    ledger: &'l mut Ledger,
    time: Time,
    count: u64,
}

impl Forks<'_> {
    fn open(&mut self) -> Result<(), Failure> {
        self.count += 1;
        self.ledger.fork(ActorId(UNDO.0 - self.count), self.time, POLICY).map_err(Failure::Refused)
    }

    fn tell_apart(&mut self, past: &mut Past<'_>, changes: &[Change]) -> Result<(), Failure> {
        self.open()?;
        retell(self.ledger, past, changes)?;
        self.open()
    }
}

impl<'s> Undoing<'s> {
    /// Of a merge only what is numbered below `books` is taken back.
    fn new(store: &'s Store, mut commit: Commit, books: u64, interrupt: &Interrupt) -> Result<Undoing<'s>, ImageError> {
        let impossible = |Impossible(object)| {
            ImageError::Damaged(format!("object {object}: its history is not what happened to it"))
        };
        let mut past =
            Past::of(store, Landmarks::of(store)?.ring(), commit.changes.iter().map(|change| change.object))?;
        let (mut pages, mut relinked) = (Vec::new(), FxHashSet::default());
        let (mut taken_back, mut first) = (TakenBack::default(), commit.number);
        let mut history = store.history();
        while let Some(other) = history.next_after(first.saturating_sub(1)) {
            let other = other?;
            if interrupt.take() {
                return Err(ImageError::Interrupted);
            }
            if other.number == commit.number {
                // By now it is known what was taken back since.
                past.go_back(&commit.changes, &commit.inverse).map_err(impossible)?;
                first = first_gone(store, &mut taken_back, &commit, books)?;
                continue;
            }
            if other.number > commit.number {
                taken_back.hear(&other, store.actor());
                let has_other_protos = |change: &&Change| line_of(&change.operation) == Some(Line::Protos);
                relinked.extend(other.changes.iter().filter(has_other_protos).map(|change| change.object));
            }
            let of_these = |changes: Vec<Change>| -> Vec<Change> {
                changes.into_iter().filter(|change| past.holds(change.object)).collect()
            };
            let (changes, inverse) = (of_these(other.changes), of_these(other.inverse));
            past.go_back(&changes, &inverse).map_err(impossible)?;
            if !changes.is_empty() {
                pages.push(Page { number: other.number, changes, is_gone: false });
            }
        }
        pages.reverse();
        pages.iter_mut().for_each(|page| page.is_gone = taken_back.concerns(page.number));
        let gone = pages.iter().filter(|page| page.is_gone).filter_map(|page| Span::of(&page.changes)).collect();
        let mut later = pages.split_off(pages.partition_point(|page| page.number < commit.number));
        let effects = commit.changes.iter().position(|change| change.id.seq >= books).unwrap_or(commit.changes.len());
        later.insert(0, Page { number: commit.number, changes: commit.changes.split_off(effects), is_gone: false });
        commit.inverse.retain(|change| takes_back(change).is_none_or(|id| id.seq < books));
        Ok(Undoing {
            store,
            is_done: taken_back.by(commit.number).is_some(),
            commit,
            earlier: pages,
            later,
            gone,
            past,
            time: store.time(),
            reshaped: FxHashSet::default(),
            circular: FxHashSet::default(),
            relinked,
        })
    }

    fn undone(mut self) -> Result<Undone, ImageError> {
        if self.is_done {
            return Ok(Undone::default());
        }
        // Each round takes one more object of the commit out of the kernel's hands.
        let (outcome, lines) = loop {
            match self.attempt() {
                Ok(done) => break done,
                Err(Failure::Reshaped(object)) if self.reshaped.insert(object) => {}
                Err(Failure::Circular(object)) if self.circular.insert(object) => {}
                Err(Failure::Store(error)) => return Err(error.into()),
                Err(Failure::Refused(refusal)) => return Err(ImageError::NotReverted(refusal.to_string())),
                Err(Failure::Reshaped(object) | Failure::Circular(object)) => {
                    return Err(ImageError::NotReverted(format!("nobody knows what object {object} was")));
                }
            }
        };
        let effects = outcome.effects.into_iter().map(|Effect { object, operation }| (object, operation));
        let mut undone = Undone { changes: effects.collect(), contended: Vec::new() };
        let settled = outcome.conflicts.iter().filter(|conflict| conflict.status == Status::Settled);
        undone.contended.extend(settled.map(told));
        undone.contended.extend(lines.into_iter().map(|(object, line)| (object, line_text(line))));
        self.take_back_reshaped(&mut undone);
        self.take_back_circular(&mut undone)?;
        undone.contended.sort();
        undone.contended.dedup();
        Ok(undone)
    }

    fn take_back_reshaped(&self, undone: &mut Undone) {
        for &object in &self.reshaped {
            if self.later.iter().flat_map(|page| &page.changes).any(|change| change.object == object) {
                undone.contended.push((object, "content".into()));
            } else {
                let inverse = self.commit.inverse.iter().filter(|change| change.object == object);
                undone.changes.extend(inverse.map(|change| (object, change.operation.clone())));
            }
        }
    }

    fn take_back_circular(&self, undone: &mut Undone) -> Result<(), ImageError> {
        for &object in &self.circular {
            if self.was_ring(object)? {
                let of_protos =
                    |change: &&Change| change.object == object && line_of(&change.operation) == Some(Line::Protos);
                let inverse = self.commit.inverse.iter().filter(of_protos);
                undone.changes.extend(inverse.map(|change| (object, change.operation.clone())));
            } else {
                undone.contended.push((object, CIRCULAR.into()));
            }
        }
        Ok(())
    }

    /// Whether the ring that the former protos of an object close is one that was there before: no object whose protos
    /// were changed since is a part of it.
    fn was_ring(&self, object: ObjectId) -> Result<bool, ImageError> {
        if self.relinked.contains(&object) {
            return Ok(false);
        }
        let length = merge::Rest::length(&self.past, object, Line::Protos);
        let former = merge::Rest::elements(&self.past, object, Line::Protos, 0, length);
        let Run::Items(former) = former else { return Ok(false) };
        let former = former.iter().filter_map(|item| if let Datum::Object(proto) = item { Some(*proto) } else { None });
        for above in self.above(former.collect())? {
            if self.relinked.contains(&above) && self.above(vec![above])?.contains(&object) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// These objects, and all that they inherit from now.
    fn above(&self, mut pending: Vec<ObjectId>) -> Result<FxHashSet<ObjectId>, ImageError> {
        let mut seen = FxHashSet::default();
        while let Some(object) = pending.pop() {
            if seen.insert(object) {
                pending.extend(self.store.read(object)?.into_iter().flat_map(|creation| creation.protos));
            }
        }
        Ok(seen)
    }

    /// What the kernel says, and the lines that were left alone.
    fn attempt(&self) -> Result<(Outcome, Vec<(ObjectId, Line)>), Failure> {
        let mut past = self.past.again();
        let mut ledger = Ledger::new(self.store.actor(), self.time.0);
        let journal: Vec<Change> = self.commit.changes.iter().map(|change| self.without_reshaped(change)).collect();
        let mut forks = Forks { ledger: &mut ledger, time: self.time, count: 0 };
        self.tell(&mut forks, &mut past, &self.earlier)?;
        forks.tell_apart(&mut past, &journal)?;
        self.tell(&mut forks, &mut past, &self.later)?;
        ledger.fork_for_undo(UNDO, self.time, POLICY).map_err(Failure::Refused)?;
        let lines = ledger.contended_lines(&journal, &self.gone);
        let is_left = |change: &Change| {
            let line = line_of(&change.operation);
            let is_circular = line == Some(Line::Protos) && self.circular.contains(&change.object);
            is_circular || line.is_some_and(|line| lines.contains(&(change.object, line)))
        };
        let undo = ledger.undo(&journal, &self.gone, UNDO, self.time).into_iter();
        let undo = undo.filter(|change| !is_left(change));
        let renumbered = |(index, change)| Change { id: ChangeId::new(UNDO, index as u64 + 1), ..change };
        let undo: Vec<Change> = undo.enumerate().map(renumbered).collect();
        let merged = ledger.merge(UNDO, &undo, self.time, &past, &NoReconciler);
        past.take_failure().map_err(Failure::Store)?;
        let outcome = merged.map_err(|refusal| blame(refusal, &undo))?;
        match outcome.violations.first() {
            Some(Violation::ProtoCycle { object, .. }) => Err(Failure::Circular(*object)),
            None => Ok((outcome, lines)),
        }
    }

    fn tell(&self, forks: &mut Forks<'_>, past: &mut Past<'_>, pages: &[Page]) -> Result<(), Failure> {
        for Page { changes, is_gone, .. } in pages {
            let changes: Vec<Change> = changes.iter().map(|change| self.without_reshaped(change)).collect();
            match is_gone {
                true => forks.tell_apart(past, &changes)?,
                false => retell(forks.ledger, past, &changes)?,
            }
        }
        Ok(())
    }

    /// A change that is none, of the same number, in the place of one that the kernel does not understand.
    fn without_reshaped(&self, change: &Change) -> Change {
        if !self.reshaped.contains(&change.object) {
            return change.clone();
        }
        nothing(change)
    }
}

/// The first commit that was taken back since this one, and that wrote to the same objects; this one itself if there is none. What
/// the history does not have any more counts as it does for all others.
fn first_gone(store: &Store, taken_back: &mut TakenBack, commit: &Commit, books: u64) -> Result<u64, ImageError> {
    let is_change = |change: &&Change| !matches!(change.operation, Operation::Call { .. });
    let effects = commit.changes.iter().filter(|change| change.id.seq < books).filter(is_change);
    let objects: FxHashSet<ObjectId> = effects.map(|change| change.object).collect();
    let mut first = commit.number;
    let before: Vec<u64> = taken_back.numbers().take_while(|gone| *gone < commit.number).collect();
    for gone in before {
        match store.commit_at(gone)? {
            None => taken_back.forget(gone),
            Some(other) if other.changes.iter().any(|change| objects.contains(&change.object)) => {
                first = first.min(gone);
            }
            Some(_) => {}
        }
    }
    Ok(first)
}

/// The change that one of an inverse takes back.
fn takes_back(change: &Change) -> Option<ChangeId> {
    if let Preds::Named(ids) = &change.preds { ids.first().copied() } else { None }
}

fn line_text(line: Line) -> String {
    if line == Line::Protos { "protos" } else { "items" }.into()
}

fn told(conflict: &Conflict) -> (ObjectId, String) {
    (conflict.place.object, place_text(&conflict.place.position))
}
