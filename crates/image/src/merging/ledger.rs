//! The story told to the kernel, and then the journal. Made anew for each attempt: an attempt fails on account of an object of
//! which the kernel cannot say what to do, and the next one does without it.

use super::arrival::Arrival;
use super::note::Note;
use super::sides::Sides;
use super::story::{Event, Story, What};
use crate::past::Past;
use crate::reconcile::Methods;
use crate::retell::{Trouble, blame, nothing, retell};
use merge::{Ledger, Outcome, Place, Policy, Position, Reconciler, Refusal};
use object::change::{ActorId, Change, ChangeId, Creation, Datum, Draft, Field, ObjectId, Operation, Time};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::BTreeMap;
use store::Store;

pub struct Teller<'t, 's> {
    pub store: &'s Store,
    pub arrival: &'t Arrival,
    pub story: &'t Story<'s>,
    pub at_fork: &'t Past<'s>,
    pub journal: Vec<Change>,
    pub exceptions: &'t [((ObjectId, Field), Policy)],
    pub reshaped: FxHashSet<ObjectId>,
}

/// What the kernel said.
pub struct Said {
    pub outcome: Outcome,
    pub decided: Vec<(ObjectId, Field, Datum)>,
    pub woven: Vec<(ObjectId, Creation)>,
}

/// A fork that is to be opened.
struct Opening<'o> {
    actor: ActorId,
    commit: u64,
    time: Time,
    policy: Policy,
    is_merged: bool,
    parents: &'o [(ActorId, u64)],
    exceptions: &'o [((ObjectId, Field), Policy)],
}

impl Teller<'_, '_> {
    /// Does without the kernel's opinion of an object: what the journal made it is told at once, and of what it found the
    /// kernel is told nothing. False if that has been tried.
    pub fn give_up(&mut self, object: ObjectId) -> bool {
        let is_own = object.minted_by().is_some_and(|change| change.actor == self.arrival.actor);
        if is_own { fold(&mut self.journal, object) } else { self.reshaped.insert(object) }
    }

    pub fn attempt(&self) -> Result<Said, Trouble> {
        let mut past = self.story.past.again();
        let mut ledger = Ledger::new(self.store.actor(), self.arrival.receipt.0);
        let mut openings = self.openings().into_iter().peekable();
        for Event { number, what, .. } in &self.story.events {
            while let Some(opening) = openings.next_if(|opening| opening.commit < *number) {
                opening.open(&mut ledger).map_err(Trouble::Refused)?;
            }
            match what {
                What::Live(changes) => retell(&mut ledger, &mut past, &self.known(changes))?,
                What::Merge { note, effects, books, .. } => {
                    self.tell_merge(&mut ledger, &mut past, note, effects)?;
                    retell(&mut ledger, &mut past, &self.known(books))?;
                }
            }
        }
        for opening in openings {
            opening.open(&mut ledger).map_err(Trouble::Refused)?;
        }
        let journal = self.known(&self.journal);
        let sides = Sides::new(self.store, self.story, self.at_fork, &journal);
        let first = ChangeId::new(self.arrival.actor, journal.len() as u64 + 1);
        let reconciler = Remembering { inner: Methods::new(sides, first), decided: RefCell::default() };
        let Arrival { actor, receipt, .. } = self.arrival;
        let merged = ledger.merge(*actor, &journal, *receipt, &past, &reconciler);
        past.take_failure().map_err(Trouble::Store)?;
        let outcome = merged.map_err(|refusal| blame_shape(refusal, &journal))?;
        let (decided, methods) = reconciler.into_decided();
        Ok(Said { outcome, decided, woven: methods.into_made() })
    }

    /// In the order of their fork points; who was dreamt inside of another comes after it.
    fn openings(&self) -> Vec<Opening<'_>> {
        let mut openings: Vec<Opening<'_>> = self.story.notes().map(Opening::of_note).collect();
        let Arrival { actor, fork_commit, forked, policy, parents, .. } = self.arrival;
        let exceptions = self.exceptions;
        openings.push(Opening {
            actor: *actor,
            commit: *fork_commit,
            time: *forked,
            policy: *policy,
            is_merged: false,
            parents,
            exceptions,
        });
        openings.sort_by_key(|opening| (opening.commit, opening.parents.len()));
        openings
    }

    fn tell_merge(
        &self,
        ledger: &mut Ledger,
        past: &mut Past<'_>,
        note: &Note,
        effects: &[Change],
    ) -> Result<(), Trouble> {
        let journal = self.known(&note.journal);
        let merged = ledger.merge(note.actor, &journal, note.receipt, past, &Decided(&note.decided));
        past.take_failure().map_err(Trouble::Store)?;
        merged.map_err(|refusal| blame(refusal, &journal))?;
        for change in self.known(effects) {
            past.go_on(&change)?;
        }
        Ok(())
    }

    fn known(&self, changes: &[Change]) -> Vec<Change> {
        let known = |change: &Change| match self.reshaped.contains(&change.object) {
            true => nothing(change),
            false => change.clone(),
        };
        changes.iter().map(known).collect()
    }
}

impl<'o> Opening<'o> {
    fn of_note(note: &'o Note) -> Opening<'o> {
        let Note { actor, fork_commit, forked, policy, parents, exceptions, .. } = note;
        let is_merged = true;
        Opening { actor: *actor, commit: *fork_commit, time: *forked, policy: *policy, is_merged, parents, exceptions }
    }

    fn open(&self, ledger: &mut Ledger) -> Result<(), Refusal> {
        match self.parents.last() {
            None => ledger.fork(self.actor, self.time, self.policy)?,
            Some((parent, seq)) => ledger.fork_inside(*parent, *seq, self.actor, self.time, self.policy)?,
        }
        if self.is_merged {
            ledger.vouch_for(self.actor);
        }
        self.exceptions.iter().try_for_each(|(place, policy)| ledger.except(self.actor, place.clone(), *policy))
    }
}

/// An object of the journal that became one of another form. Whatever else is wrong with a journal, it is refused for.
fn blame_shape(refusal: Refusal, journal: &[Change]) -> Trouble {
    match refusal {
        Refusal::Unfit(..) | Refusal::Widths(..) | Refusal::OutOfRange(_) => blame(refusal, journal),
        refusal => Trouble::Refused(refusal),
    }
}

/// Remembers what was decided, for later merges.
struct Remembering<R> {
    inner: R,
    decided: RefCell<BTreeMap<Place, Option<Datum>>>,
}

impl<R: Reconciler> Reconciler for Remembering<R> {
    fn reconcile(&self, place: &Place, base: &Datum, one: &Datum, other: &Datum) -> Option<Datum> {
        let value = self.inner.reconcile(place, base, one, other);
        self.decided.borrow_mut().insert(place.clone(), value.clone());
        value
    }
}

impl<R> Remembering<R> {
    fn into_decided(self) -> (Vec<(ObjectId, Field, Datum)>, R) {
        let decided = self.decided.into_inner().into_iter().filter_map(|(place, value)| match place.position {
            Position::Field(field) => Some((place.object, field, value?)),
            Position::Item(_) => None,
        });
        (decided.collect(), self.inner)
    }
}

/// What was decided when it was merged.
struct Decided<'d>(&'d [(ObjectId, Field, Datum)]);

impl Reconciler for Decided<'_> {
    fn reconcile(&self, place: &Place, _: &Datum, _: &Datum, _: &Datum) -> Option<Datum> {
        let is_here = |(object, field, _): &&(ObjectId, Field, Datum)| {
            *object == place.object && matches!(&place.position, Position::Field(each) if each == field)
        };
        self.0.iter().find(is_here).map(|(_, _, value)| value.clone())
    }
}

/// Makes an object at once what it became in the end.
fn fold(journal: &mut [Change], object: ObjectId) -> bool {
    let of_object = |change: &Change| change.object == object && !matches!(change.operation, Operation::Call { .. });
    let places: Vec<usize> = (0..journal.len()).filter(|at| of_object(&journal[*at])).collect();
    let Some((first, later)) = places.split_first().filter(|(_, later)| !later.is_empty()) else { return false };
    let Operation::Create(creation) = &journal[*first].operation else { return false };
    let mut draft = Draft::from((**creation).clone());
    if later.iter().any(|at| draft.apply(&journal[*at].operation).is_err()) {
        return false;
    }
    journal[*first].operation = Operation::Create(Box::new(draft.into()));
    later.iter().for_each(|at| journal[*at] = nothing(&journal[*at]));
    true
}

/// What the journal itself says of an object, where the kernel cannot: its operations, in order.
pub fn raw(journal: &[Change], object: ObjectId) -> impl Iterator<Item = &Operation> {
    let of_object = journal.iter().filter(move |change| change.object == object);
    of_object.map(|change| &change.operation).filter(|operation| !matches!(operation, Operation::Call { .. }))
}
