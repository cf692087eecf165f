//! The inverse of what was merged or committed, as a journal like any other. What was written over it since then is an
//! ordinary conflict; calls to the outside cannot be taken back, nor new objects, which nobody refers to any more.

use crate::ledger::Ledger;
use crate::line::Sequence;
use crate::register::Register;
use crate::stamp::{Span, Stamp, View};
use object::change::*;
use std::collections::BTreeSet;

impl Ledger {
    /// Takes back the changes of `journal`, which are still in the ledger: to be merged as the journal of `actor`, for
    /// which a fork for an undo was opened now. What was merged at one go is taken back at one go. A commit of the live
    /// image can be taken back if forks were opened just before and just after it; else it is not told apart from others.
    ///
    /// `gone` are changes that were taken back before, and those that took them back: what comes back is what would be
    /// there had neither ever been. The same forks tell them apart.
    pub fn undo(&self, journal: &[Change], gone: &[Span], actor: ActorId, time: Time) -> Vec<Change> {
        let done = BTreeSet::new();
        let mut undo = Undo { ledger: self, journal, gone, actor, time, changes: Vec::new(), done };
        undo.lines();
        for change in journal.iter().rev() {
            undo.change(change);
        }
        undo.changes
    }
}

struct Undo<'u> {
    ledger: &'u Ledger,
    journal: &'u [Change],
    gone: &'u [Span],
    actor: ActorId,
    time: Time,
    changes: Vec<Change>,
    /// Places and members that have been seen to.
    done: BTreeSet<(ObjectId, Field)>,
}

impl Undo<'_> {
    fn push(&mut self, object: ObjectId, operation: Operation, preds: Preds) {
        let id = ChangeId::new(self.actor, self.changes.len() as u64 + 1);
        self.changes.push(Change { id, time: self.time, object, operation, preds });
    }

    fn is_undone(&self, stamp: &Stamp) -> bool {
        Span::of(self.journal).is_some_and(|span| span.holds(stamp.id))
    }

    fn is_gone(&self, stamp: &Stamp) -> bool {
        self.gone.iter().any(|span| span.holds(stamp.id))
    }

    /// What a place goes back to, and the versions that this replaces; none if nothing of it is undone or gone.
    fn restored(&self, register: &Register<Datum>) -> Option<(Datum, Preds)> {
        let stamps = register.versions.iter().map(|version| version.stamp);
        let replaced = stamps.filter(|stamp| self.is_undone(stamp) || self.is_gone(stamp));
        let replaced: Vec<ChangeId> = replaced.map(|stamp| stamp.id).collect();
        if replaced.is_empty() {
            return None;
        }
        let without = register.had_not_been(|stamp| self.is_gone(stamp));
        Some((without.shown_without(|stamp| self.is_undone(stamp)).clone(), Preds::Named(replaced.into())))
    }

    fn change(&mut self, change: &Change) {
        match &change.operation {
            // A container that others may have made too stays, and so does what they put into it.
            Operation::Create(creation) if creation.under.is_some() => {
                creation.steps().iter().rev().for_each(|step| self.operation(change, step));
            }
            operation => self.operation(change, operation),
        }
    }

    fn operation(&mut self, change: &Change, operation: &Operation) {
        let object = change.object;
        match operation {
            Operation::Put { field, .. } => self.put(object, field),
            Operation::Count { key, delta } => {
                let operation = Operation::Count { key: key.clone(), delta: delta.wrapping_neg() };
                self.push(object, operation, Preds::Seen);
            }
            Operation::Add { member, count } => {
                let operation = Operation::Remove { member: member.clone(), count: *count };
                self.push(object, operation, Preds::Named([change.id].into()));
            }
            Operation::Remove { member, .. } => {
                let members = self.ledger.members.get(&(object, member.clone()));
                let is_theirs = |stamp: &Stamp| self.is_undone(stamp) || self.is_gone(stamp);
                let count = members.map_or(0, |members| members.taken_only_by(is_theirs));
                if count > 0 && self.done.insert((object, Field::Entry(member.clone()))) {
                    self.push(object, Operation::Add { member: member.clone(), count }, Preds::Seen);
                }
            }
            _ => {}
        }
    }

    /// The last of the undone writes to a place takes them all back.
    fn put(&mut self, object: ObjectId, field: &Field) {
        let Some(register) = self.ledger.registers.get(object, field) else { return };
        if let Some((value, replaced)) = self.restored(register)
            && self.done.insert((object, field.clone()))
        {
            self.push(object, Operation::Put { field: field.clone(), value }, replaced);
        }
    }

    fn lines(&mut self) {
        let mut places: Vec<(ObjectId, Line)> = self.ledger.lines.keys().copied().collect();
        places.sort();
        for place in places {
            let sequence = &self.ledger.lines[&place];
            if sequence.stamps().any(|stamp| self.is_undone(&stamp)) {
                self.line(place, sequence);
            }
        }
    }

    /// Makes the line what it would be had the changes not been. What was moved comes back as a new element.
    fn line(&mut self, (object, line): (ObjectId, Line), sequence: &Sequence) {
        let without: Vec<Span> = Span::of(self.journal).into_iter().chain(self.gone.iter().copied()).collect();
        let (all, without) = (View::all(), View::without(without));
        let mut index = 0;
        for (at, piece) in sequence.pieces.iter().enumerate() {
            let is_shown = sequence.shows(at, &all, &sequence.ruling);
            let was_shown = sequence.shows(at, &without, &sequence.ruling);
            match (is_shown, was_shown) {
                (true, false) => {
                    self.push(object, Operation::Delete { line, index, count: piece.count }, Preds::Seen);
                }
                (false, true) => {
                    let run = sequence.run(at, |register| register.shown_in(&without).clone());
                    self.push(object, Operation::Insert { line, index, run }, Preds::Seen);
                }
                (true, true) => self.settings(object, sequence, at, index),
                (false, false) => {}
            }
            if was_shown {
                index += piece.count;
            }
        }
    }

    fn settings(&mut self, object: ObjectId, sequence: &Sequence, at: usize, index: u64) {
        let piece = &sequence.pieces[at];
        for offset in 0..piece.count {
            let element = piece.moved.unwrap_or(piece.element(offset));
            let Some(register) = sequence.settings.get(&element) else { continue };
            if let Some((value, replaced)) = self.restored(register) {
                self.push(object, Operation::Set { index: index + offset, value }, replaced);
            }
        }
    }
}
