//! Replays changes in their author's view. Everything that it writes carries the number of this merge, so that a
//! journal which turns out to be wrong can be taken back whole.

use crate::admit::{Refusal, Told, fits, replaced};
use crate::fresh::Fresh;
use crate::ledger::Ledger;
use crate::line::Sequence;
use crate::members::Members;
use crate::protos::Rulings;
use crate::register::Register;
use crate::registers::Mark;
use crate::rest::{Presence, Rest};
use crate::settle::Effect;
use crate::stamp::{Inner, Policy, Stamp, View};
use object::change::*;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// One commit or merge under way.
pub(crate) struct Application<'l, R> {
    pub ledger: &'l mut Ledger,
    pub rest: Fresh<'l, R>,
    pub view: View,
    pub order: u64,
    /// None for the live image, which is trusted.
    pub fork: Option<ForkTerms>,
    pub inner: Inner,
    /// What becomes of protos that would close cycles, if that was found out already.
    pub rulings: Option<Rulings>,
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

/// On what terms an author writes over what others did.
pub(crate) struct Terms<'a> {
    view: &'a View,
    inner: &'a Inner,
    is_undo: bool,
}

impl Terms<'_> {
    pub fn write(
        &self,
        register: &mut Register<Datum>,
        change: Told<'_>,
        stamp: Stamp,
        value: &Datum,
    ) -> Result<(), Refusal> {
        let replaces = match change.preds {
            Preds::Seen => None,
            Preds::Named(named) => replaced(register, change.id, named, self.view, self.is_undo)?,
        };
        match replaces {
            None => register.write(stamp, value.clone(), self.view, self.inner),
            Some(replaces) => register.write_over(stamp, value.clone(), replaces),
        }
        Ok(())
    }
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

/// A write, with what it writes at hand.
type Put<'c> = (Told<'c>, &'c Field, &'c Datum);

/// So many writes are looked at before the first of them is done: the processor fetches them all at once.
const BLOCK: usize = 32;

impl<'l, R: Rest> Application<'l, R> {
    pub fn new(ledger: &'l mut Ledger, rest: &'l R, view: View, fork: Option<ForkTerms>) -> Application<'l, R> {
        ledger.order += 1;
        let parents = ledger.open_forks().flat_map(|fork| &fork.view.parents);
        let inner = parents.filter(|(parent, _)| *parent == view.actor).map(|(_, seq)| *seq).collect();
        Application {
            inner: Inner::new(inner),
            rulings: None,
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

    /// Replays all, or takes all back. `told` says what the primary knows of a change.
    pub fn replay<'c>(&mut self, changes: &'c [Change], told: impl Fn(&'c Change) -> Told<'c>) -> Result<(), Refusal> {
        let makes = changes.iter().filter(|change| matches!(change.operation, Operation::Create(_)));
        self.own = makes.map(|change| told(change).object).collect();
        let mut result = self.replay_in_order(changes, &told);
        if self.fork.is_some() {
            result = result.and_then(|()| self.check_widths());
        }
        if result.is_err() {
            self.take_back();
        }
        result
    }

    /// Writes that follow each other are put off: they make nothing, so that only those to one object depend on each other.
    fn replay_in_order<'c>(
        &mut self,
        changes: &'c [Change],
        told: &impl Fn(&'c Change) -> Told<'c>,
    ) -> Result<(), Refusal> {
        let mut puts: Vec<(ObjectId, usize)> = Vec::new();
        for (at, change) in changes.iter().enumerate() {
            if matches!(change.operation, Operation::Put { .. }) {
                puts.push((change.object, at));
                continue;
            }
            self.replay_puts(&mut puts, changes, told)?;
            self.change(told(change))?;
        }
        self.replay_puts(&mut puts, changes, told)
    }

    /// Replays writes object by object: what is in the processor's caches for one of them serves the next.
    fn replay_puts<'c>(
        &mut self,
        puts: &mut Vec<(ObjectId, usize)>,
        changes: &'c [Change],
        told: &impl Fn(&'c Change) -> Told<'c>,
    ) -> Result<(), Refusal> {
        puts.sort_unstable();
        let mut block: SmallVec<[Put<'c>; BLOCK]> = SmallVec::new();
        for places in puts.chunks(BLOCK) {
            block.extend(places.iter().filter_map(|(_, at)| match &changes[*at].operation {
                Operation::Put { field, value } => Some((told(&changes[*at]), field, value)),
                _ => None,
            }));
            for (change, field, value) in block.drain(..) {
                self.check(change)?;
                self.put(change, field, value)?;
            }
        }
        puts.clear();
        Ok(())
    }

    pub fn take_back(&mut self) {
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
        // The number is not used again: objects remember by it who was found to know them.
    }

    fn change(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        self.check(change)?;
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

    pub fn stamp(&self, change: Told<'_>) -> Stamp {
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

    /// A fork's change names nothing that its author could not know, and fits where it goes.
    fn check(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        if self.fork.is_some() { self.check_references(change) } else { Ok(()) }
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
        if let Some(object) = unknown {
            return Err(Refusal::UnknownObject(change.id, object));
        }
        let is_fit = fits(change.operation, || self.rest.form(change.object));
        if is_fit { Ok(()) } else { Err(Refusal::Unfit(change.id, change.object)) }
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
        let is_undo = self.is_undo();
        let register = &mut self.ledger.registers.at(at).register;
        if register.versions.last().is_none_or(|version| version.stamp.order != self.order) {
            self.touched.registers.push(at);
        }
        let terms = Terms { view: &self.view, inner: &self.inner, is_undo };
        terms.write(register, change, stamp, value)
    }

    fn is_undo(&self) -> bool {
        self.fork.as_ref().is_some_and(|fork| fork.is_undo)
    }

    pub fn terms(&self) -> Terms<'_> {
        Terms { view: &self.view, inner: &self.inner, is_undo: self.is_undo() }
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
}
