//! Replays changes in their author's view. Everything that it writes carries the number of this merge, so that a
//! journal which turns out to be wrong can be taken back whole.

use crate::admit::{Refusal, Told, replaced};
use crate::integrate::Author;
use crate::ledger::Ledger;
use crate::line::{Element, OutOfRange, Sequence, Values};
use crate::members::Members;
use crate::register::Register;
use crate::registers::Mark;
use crate::rest::{Presence, Rest};
use crate::settle::Effect;
use crate::stamp::{Policy, Stamp, View};
use object::change::*;
use std::collections::{BTreeMap, BTreeSet};

/// One commit or merge under way.
pub(crate) struct Application<'l, R> {
    pub ledger: &'l mut Ledger,
    pub rest: Fresh<'l, R>,
    pub view: View,
    pub order: u64,
    /// None for the live image, which is trusted.
    pub fork: Option<ForkTerms>,
    pub touched: Touched,
    pub effects: Vec<Effect>,
    pub outbox: Vec<(ChangeId, ObjectId, Text, Datum)>,
    pub revived: BTreeSet<ObjectId>,
    /// Objects that the journal makes somewhere.
    own: BTreeSet<ObjectId>,
    /// Those that it has made by now.
    done: BTreeSet<ObjectId>,
    /// How many registers there were before.
    mark: Mark,
}

pub(crate) struct ForkTerms {
    pub policy: Policy,
    pub exceptions: BTreeMap<(ObjectId, Field), Policy>,
    pub is_undo: bool,
}

/// What this merge has written to, and what was there before.
#[derive(Default)]
pub(crate) struct Touched {
    /// Where they are in the ledger, in the order of the journal.
    pub registers: Vec<usize>,
    pub lines: BTreeMap<(ObjectId, Line), Option<Sequence>>,
    pub members: BTreeMap<(ObjectId, Datum), Option<Members>>,
    pub created: Vec<ObjectId>,
}

/// The image, and on it the objects that are being made.
pub(crate) struct Fresh<'r, R> {
    pub rest: &'r R,
    pub made: BTreeMap<ObjectId, Creation>,
}

impl<R: Rest> Fresh<'_, R> {
    fn field(&self, object: ObjectId, field: &Field) -> Datum {
        let Some(creation) = self.made.get(&object) else { return self.rest.field(object, field) };
        creation.field(field)
    }

    pub fn length(&self, object: ObjectId, line: Line) -> u64 {
        let Some(creation) = self.made.get(&object) else { return self.rest.length(object, line) };
        creation.run(line).len() as u64
    }

    pub fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Values {
        let Some(creation) = self.made.get(&object) else {
            return Values::from(&self.rest.elements(object, line, index, count));
        };
        Values::from(&creation.run(line)).slice(index, count)
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        let Some(creation) = self.made.get(&object) else { return self.rest.occurrences(object, member) };
        creation.occurrences(member)
    }
}

impl<'l, R: Rest> Application<'l, R> {
    pub fn new(ledger: &'l mut Ledger, rest: &'l R, view: View, fork: Option<ForkTerms>) -> Application<'l, R> {
        ledger.order += 1;
        Application {
            mark: ledger.registers.mark(),
            order: ledger.order,
            ledger,
            rest: Fresh { rest, made: BTreeMap::new() },
            view,
            fork,
            touched: Touched::default(),
            effects: Vec::new(),
            outbox: Vec::new(),
            revived: BTreeSet::new(),
            own: BTreeSet::new(),
            done: BTreeSet::new(),
        }
    }

    /// Replays all, or takes all back.
    pub fn replay<'c>(&mut self, changes: impl Iterator<Item = Told<'c>> + Clone) -> Result<(), Refusal> {
        let makes = |change: Told<'_>| matches!(change.operation, Operation::Create(_)).then_some(change.object);
        self.own = changes.clone().filter_map(makes).collect();
        let result = changes.into_iter().try_for_each(|change| self.change(change));
        if result.is_err() {
            self.take_back();
        }
        result
    }

    fn take_back(&mut self) {
        for at in std::mem::take(&mut self.touched.registers) {
            self.ledger.registers.at(at).register.take_back(self.order);
        }
        self.ledger.registers.truncate(self.mark);
        for (place, line) in std::mem::take(&mut self.touched.lines) {
            match line {
                Some(line) => self.ledger.lines.insert(place, line),
                None => self.ledger.lines.remove(&place),
            };
        }
        for (place, members) in std::mem::take(&mut self.touched.members) {
            match members {
                Some(members) => self.ledger.members.insert(place, members),
                None => self.ledger.members.remove(&place),
            };
        }
        for object in &self.touched.created {
            if let Some(stamps) = self.ledger.created.get_mut(object) {
                stamps.retain(|stamp| stamp.order != self.order);
                if stamps.is_empty() {
                    self.ledger.created.remove(object);
                }
            }
        }
        self.ledger.order -= 1;
    }

    fn change(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        if self.fork.is_some() {
            self.check_references(change)?;
        }
        match change.operation {
            Operation::Create(creation) => self.create(change, creation),
            Operation::Put { field, value } => self.put(change, field, value),
            Operation::Insert { .. } | Operation::Delete { .. } | Operation::Move { .. } | Operation::Set { .. } => {
                self.edit_line(change)
            }
            Operation::Count { key, delta } => {
                let operation = Operation::Count { key: key.clone(), delta: *delta };
                self.effects.push(Effect { object: change.object, operation });
                Ok(())
            }
            Operation::Add { member, count } => {
                let stamp = self.stamp(change);
                self.members(change.object, member).add(stamp, *count);
                Ok(())
            }
            Operation::Remove { member, count } => {
                self.remove(change, member, *count);
                Ok(())
            }
            Operation::Call { name, payload } => {
                self.outbox.push((change.id, change.object, name.clone(), payload.clone()));
                Ok(())
            }
        }
    }

    fn stamp(&self, change: Told<'_>) -> Stamp {
        let policy = self.fork.as_ref().map(|fork| fork.policy);
        Stamp { id: change.id, order: self.order, time: change.time, policy }
    }

    /// Whether the author can know the object that it changes, and has made it by now if it makes it.
    fn check_target(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        let is_made = !self.own.contains(&change.object) || self.done.contains(&change.object);
        if is_made && self.knows(change.object) {
            Ok(())
        } else {
            Err(Refusal::UnknownObject(change.id, change.object))
        }
    }

    fn check_references(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        if !matches!(change.operation, Operation::Create(_) | Operation::Put { .. }) {
            self.check_target(change)?;
        }
        let mut unknown = None;
        change.operation.references(&mut |object| {
            if !self.knows(object) {
                unknown = Some(object);
            }
        });
        if let Operation::Create(creation) = change.operation {
            let later = |proto: &&ObjectId| self.own.contains(*proto) && !self.done.contains(*proto);
            unknown = unknown.or(creation.protos.iter().find(later).copied());
        }
        unknown.map_or(Ok(()), |object| Err(Refusal::UnknownObject(change.id, object)))
    }

    /// Whether the author can know of an object.
    fn knows(&mut self, object: ObjectId) -> bool {
        if self.own.contains(&object) {
            return true;
        }
        if let Some(stamps) = self.ledger.created.get(&object) {
            return stamps.iter().any(|stamp| self.view.sees(stamp));
        }
        match self.rest.rest.presence(object) {
            Presence::Never => return false,
            Presence::Kept => self.revived.insert(object),
            Presence::Live => true,
        };
        true
    }

    fn create(&mut self, change: Told<'_>, creation: &Creation) -> Result<(), Refusal> {
        let (object, stamp) = (change.object, self.stamp(change));
        let elsewhere = self.ledger.created.get(&object);
        let is_seen = match elsewhere {
            Some(stamps) => stamps.iter().any(|stamp| self.view.sees(stamp)),
            None => self.rest.rest.presence(object) != Presence::Never,
        };
        if is_seen {
            return Err(Refusal::ObjectExists(change.id, object));
        }
        let is_first = elsewhere.is_none();
        self.ledger.created.entry(object).or_default().push(stamp);
        self.touched.created.push(object);
        self.done.insert(object);
        let shell = if creation.under.is_none() { creation.clone() } else { creation.shell() };
        if is_first {
            let operation = Operation::Create(Box::new(shell.clone()));
            self.effects.push(Effect { object, operation });
            self.rest.made.insert(object, shell);
        }
        if creation.under.is_some() { self.fill(change, creation) } else { Ok(()) }
    }

    /// What a container that others may make too holds at first, as if it had been put there piece by piece.
    fn fill(&mut self, change: Told<'_>, creation: &Creation) -> Result<(), Refusal> {
        for operation in creation.steps() {
            self.change(Told { operation: &operation, ..change })?;
        }
        Ok(())
    }

    fn put(&mut self, change: Told<'_>, field: &Field, value: &Datum) -> Result<(), Refusal> {
        let object = self.ledger.registers.object(change.object);
        if self.fork.is_some() && !self.ledger.registers.is_known(object, self.order) {
            self.check_target(change)?;
            self.ledger.registers.set_known(object, self.order);
        }
        let mut stamp = self.stamp(change);
        if let Some(fork) = self.fork.as_ref().filter(|fork| !fork.exceptions.is_empty()) {
            let exception = fork.exceptions.get(&(change.object, field.clone()));
            stamp.policy = Some(*exception.unwrap_or(&fork.policy));
        }
        let at = match self.ledger.registers.find(object, field) {
            Some(at) => at,
            None => {
                let register = Register::new(self.rest.field(change.object, field));
                self.ledger.registers.add(object, field, register)
            }
        };
        let register = &mut self.ledger.registers.at(at).register;
        if register.versions.last().is_none_or(|version| version.stamp.order != self.order) {
            self.touched.registers.push(at);
        }
        let is_undo = self.fork.as_ref().is_some_and(|fork| fork.is_undo);
        let replaced = replaced(register, change.id, change.preds, &self.view, is_undo)?;
        register.push(stamp, value.clone(), replaced);
        Ok(())
    }

    fn members(&mut self, object: ObjectId, member: &Datum) -> &mut Members {
        let place = (object, member.clone());
        let before = self.ledger.members.get(&place);
        self.touched.members.entry(place.clone()).or_insert_with(|| before.cloned());
        let rest = &self.rest;
        self.ledger
            .members
            .entry(place)
            .or_insert_with_key(|(object, member)| Members::new(rest.occurrences(*object, member)))
    }

    fn remove(&mut self, change: Told<'_>, member: &Datum, count: u64) {
        let (stamp, view) = (self.stamp(change), self.view.clone());
        let named = match change.preds {
            Preds::Seen => None,
            Preds::Named(named) => Some(&named[..]),
        };
        self.members(change.object, member).remove(stamp, count, &view, named);
    }

    fn edit_line(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        let line = match change.operation {
            Operation::Insert { line, .. } | Operation::Delete { line, .. } | Operation::Move { line, .. } => *line,
            _ => Line::Items,
        };
        let place = (change.object, line);
        let suppressed = self.suppressed_in_view(place);
        let mut sequence = self.take_line(place);
        let result = self.edit(&mut sequence, change, line, &suppressed);
        if line == Line::Protos {
            sequence.single_out();
        }
        self.ledger.lines.insert(place, sequence);
        result
    }

    /// What the live image left out of the protos when the author forked. Of its own cycles it saw all.
    fn suppressed_in_view(&self, (object, line): (ObjectId, Line)) -> BTreeSet<Element> {
        match (line, &self.fork) {
            (Line::Protos, Some(_)) => {
                let at_fork = View::at(self.view.order);
                self.ledger.suppressed(&at_fork, &self.rest).remove(&object).unwrap_or_default()
            }
            (Line::Protos, None) => {
                self.ledger.lines.get(&(object, line)).map(|line| line.suppressed.clone()).unwrap_or_default()
            }
            _ => BTreeSet::new(),
        }
    }

    fn take_line(&mut self, place: (ObjectId, Line)) -> Sequence {
        let before = self.ledger.lines.get(&place);
        self.touched.lines.entry(place).or_insert_with(|| before.cloned());
        if let Some(line) = self.ledger.lines.remove(&place) {
            return line;
        }
        let length = self.rest.length(place.0, place.1);
        let mut sequence = Sequence::new(length);
        if place.1 == Line::Protos
            && let Some(piece) = sequence.pieces.first_mut()
        {
            piece.values = Some(self.rest.elements(place.0, place.1, 0, length));
        }
        sequence
    }

    fn edit(
        &self,
        sequence: &mut Sequence,
        change: Told<'_>,
        line: Line,
        suppressed: &BTreeSet<Element>,
    ) -> Result<(), Refusal> {
        let author = Author { stamp: self.stamp(change), view: &self.view, suppressed };
        let before = View::at(self.order - 1);
        // The image still holds what it showed before this merge.
        let capture = |sequence: &Sequence, at: usize| {
            let is_held = sequence.shows(at, &before, &sequence.suppressed);
            let index = sequence.index_of(at, &before, &sequence.suppressed);
            is_held.then(|| self.rest.elements(change.object, line, index, sequence.pieces[at].count))
        };
        let done = match change.operation {
            Operation::Insert { run, index, .. } => {
                let count = run.len() as u64;
                let is_inside = *index <= sequence.length(author.view, suppressed);
                match count {
                    0 if is_inside => Ok(()),
                    0 => Err(OutOfRange),
                    _ => sequence.insert(&author, *index, Values::from(run), count),
                }
            }
            Operation::Delete { index, count, .. } => sequence.delete(&author, *index, *count, capture),
            Operation::Move { from, to, .. } => {
                sequence.move_to(&author, *from, *to, |sequence, at, _| capture(sequence, at))
            }
            Operation::Set { index, value } => return self.set_item(sequence, change, &author, *index, value),
            _ => Ok(()),
        };
        done.map_err(|OutOfRange| Refusal::OutOfRange(change.id))
    }

    fn set_item(
        &self,
        sequence: &mut Sequence,
        change: Told<'_>,
        author: &Author<'_>,
        index: u64,
        value: &Datum,
    ) -> Result<(), Refusal> {
        let found = sequence.find(author.view, author.suppressed, index);
        let (at, offset) = found.map_err(|OutOfRange| Refusal::OutOfRange(change.id))?;
        let piece = &sequence.pieces[at];
        let element = piece.moved.unwrap_or(piece.element(offset));
        if !sequence.settings.contains_key(&element) {
            let held = sequence.value(at, offset).unwrap_or_else(|| {
                let before = View::at(self.order - 1);
                let index = sequence.index_of(at, &before, &sequence.suppressed) + offset;
                self.rest.elements(change.object, Line::Items, index, 1).item(0).cloned().unwrap_or_default()
            });
            sequence.settings.insert(element, Register::new(held));
        }
        let is_undo = self.fork.as_ref().is_some_and(|fork| fork.is_undo);
        let register = sequence.settings.get_mut(&element).expect("it was put there above");
        let replaced = replaced(register, change.id, change.preds, &self.view, is_undo)?;
        register.push(author.stamp, value.clone(), replaced);
        Ok(())
    }
}
