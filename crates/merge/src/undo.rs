//! The inverse of what was merged or committed, as a journal like any other. What was written over it since then is an
//! ordinary conflict; calls to the outside cannot be taken back, nor new objects, which nobody refers to any more.

use crate::integrate::Author;
use crate::ledger::Ledger;
use crate::line::{Element, Sequence, Source, Values};
use crate::register::Register;
use crate::stamp::{Policy, Stamp, View};
use object::change::*;

impl Ledger {
    /// Takes back the changes of `journal`, which are still in the ledger: to be merged as the journal of `actor`, for
    /// which a fork for an undo was opened now.
    pub fn undo(&self, journal: &[Change], actor: ActorId, time: Time) -> Vec<Change> {
        let mut undo = Undo { ledger: self, journal, actor, time, changes: Vec::new() };
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
    actor: ActorId,
    time: Time,
    changes: Vec<Change>,
}

impl Undo<'_> {
    fn push(&mut self, object: ObjectId, operation: Operation, preds: Preds) {
        let id = ChangeId::new(self.actor, self.changes.len() as u64 + 1);
        self.changes.push(Change { id, time: self.time, object, operation, preds });
    }

    fn is_undone(&self, stamp: &Stamp) -> bool {
        self.find(stamp.id).is_some()
    }

    fn find(&self, id: ChangeId) -> Option<&Change> {
        let first = self.journal.first()?.id;
        if id.actor != first.actor {
            return None;
        }
        self.journal.get(usize::try_from(id.seq.checked_sub(first.seq)?).ok()?)
    }

    fn change(&mut self, change: &Change) {
        let object = change.object;
        match &change.operation {
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
                let count = members.map_or(0, |members| members.taken_only_by(|stamp| self.is_undone(stamp)));
                let operation = Operation::Add { member: member.clone(), count };
                if count > 0 && !self.changes.iter().any(|done| done.object == object && done.operation == operation) {
                    self.push(object, operation, Preds::Seen);
                }
            }
            _ => {}
        }
    }

    /// The last of the undone writes to a place takes them all back.
    fn put(&mut self, object: ObjectId, field: &Field) {
        let Some(register) = self.ledger.registers.get(&(object, field.clone())) else { return };
        let is_mine = |stamp: &Stamp| self.is_undone(stamp);
        let heads: Vec<ChangeId> =
            register.versions.iter().map(|version| version.stamp).filter(is_mine).map(|stamp| stamp.id).collect();
        let value = register.shown_without(|stamp| self.is_undone(stamp)).clone();
        let is_again = |change: &Change| {
            change.object == object
                && matches!(&change.operation, Operation::Put { field: other, .. } if other == field)
        };
        if !heads.is_empty() && !self.changes.iter().any(is_again) {
            let operation = Operation::Put { field: field.clone(), value };
            self.push(object, operation, Preds::Named(heads.into()));
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

    /// Values first, while indexes are what they are; then what came and went; then what was moved.
    fn line(&mut self, place: (ObjectId, Line), sequence: &Sequence) {
        let all = View::all();
        for at in (0..sequence.pieces.len()).filter(|at| sequence.shows(*at, &all, &sequence.suppressed)) {
            self.settings(place.0, sequence, at, sequence.index_of(at, &all, &sequence.suppressed));
        }
        let mut sequence = sequence.clone();
        self.elements(place, &mut sequence);
        self.moves(place, &mut sequence);
    }

    /// Takes out what was put in, and puts in again what nobody else took out.
    fn elements(&mut self, (object, line): (ObjectId, Line), sequence: &mut Sequence) {
        let all = View::all();
        let firsts: Vec<Element> = sequence.pieces.iter().map(|piece| piece.element(0)).collect();
        for first in firsts {
            let (at, _) = sequence.locate_any(first).expect("no piece is ever lost");
            let piece = &sequence.pieces[at];
            let home = piece.moved.and_then(|element| sequence.locate(element)).map_or(at, |(home, _)| home);
            let is_mine = sequence.pieces[home].stamp.is_some_and(|stamp| self.is_undone(&stamp));
            let only_mine = !piece.deleted.is_empty() && piece.deleted.iter().all(|stamp| self.is_undone(stamp));
            let index = sequence.index_of(at, &all, &sequence.suppressed);
            let is_shown = sequence.shows(at, &all, &sequence.suppressed);
            if is_shown && is_mine {
                let operation = Operation::Delete { line, index, count: piece.count };
                self.rehearse(object, operation, sequence);
            } else if !is_shown
                && !is_mine
                && only_mine
                && let Some(values) = &piece.values
            {
                let operation = Operation::Insert { line, index, run: values.to_run() };
                self.rehearse(object, operation, sequence);
            }
        }
    }

    /// Moves back what still stands where it was moved to, one after the other.
    fn moves(&mut self, (object, line): (ObjectId, Line), sequence: &mut Sequence) {
        let is_mine = |register: &Register<Option<ChangeId>>| {
            register.shown().is_some_and(|change| self.find(change).is_some())
        };
        let moved: Vec<Element> =
            sequence.positions.iter().filter(|(_, register)| is_mine(register)).map(|(element, _)| *element).collect();
        for element in moved {
            let before = *sequence.positions[&element].shown_without(|stamp| self.is_undone(stamp));
            let home = before.map_or(element, |change| Element { source: Source::Change(change), offset: 0 });
            let (Some(from), Some((at, _))) = (sequence.live_index(element), sequence.locate_any(home)) else { continue };
            let index = sequence.index_of(at, &View::all(), &sequence.suppressed);
            let to = if index > from { index - 1 } else { index };
            self.rehearse(object, Operation::Move { line, from, to }, sequence);
        }
    }

    /// Adds the operation, and does it to the line as its author will see it.
    fn rehearse(&mut self, object: ObjectId, operation: Operation, sequence: &mut Sequence) {
        let id = ChangeId::new(self.actor, self.changes.len() as u64 + 1);
        let stamp = Stamp { id, order: u64::MAX, time: self.time, policy: Some(Policy::ForkWins) };
        let (view, suppressed) = (View::all(), sequence.suppressed.clone());
        let author = Author { stamp, view: &view, suppressed: &suppressed };
        let done = match &operation {
            Operation::Insert { index, run, .. } => {
                sequence.insert(&author, *index, Values::from(run), run.len() as u64)
            }
            Operation::Delete { index, count, .. } => sequence.delete(&author, *index, *count, |_, _| None),
            Operation::Move { from, to, .. } => sequence.move_to(&author, *from, *to, |_, _, _| None),
            _ => Ok(()),
        };
        done.expect("indexes were taken from the line itself");
        self.push(object, operation, Preds::Seen);
    }

    fn settings(&mut self, object: ObjectId, sequence: &Sequence, at: usize, index: u64) {
        let piece = &sequence.pieces[at];
        for offset in 0..piece.count {
            let element = piece.moved.unwrap_or(piece.element(offset));
            let Some(register) = sequence.settings.get(&element) else { continue };
            let mine = register.versions.iter().map(|version| version.stamp).filter(|stamp| self.is_undone(stamp));
            let mine: Vec<ChangeId> = mine.map(|stamp| stamp.id).collect();
            if !mine.is_empty() {
                let value = register.shown_without(|stamp| self.is_undone(stamp)).clone();
                let operation = Operation::Set { index: index + offset, value };
                self.push(object, operation, Preds::Named(mine.into()));
            }
        }
    }
}
