//! The end of a commit or merge: what each place that was touched shows now, and how that differs from the image.

use crate::admit::{Refusal, Told, owned};
use crate::apply::{Application, ForkTerms};
use crate::conflict::{Conflict, Place, Position, Sibling, Status, Violation};
use crate::ledger::Ledger;
use crate::line::{Element, Sequence, Source};
use crate::register::{Register, Version};
use crate::registers::Entry;
use crate::rest::{Reconciler, Rest};
use crate::stamp::{Policy, View};
use object::change::*;
use std::collections::{BTreeMap, BTreeSet};

/// Something to do to the image. Indexes count with all effects before it done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effect {
    pub object: ObjectId,
    pub operation: Operation,
}

/// What came of a merge.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// In order. Empty for a journal that was merged before.
    pub effects: Vec<Effect>,
    /// Of the places that the journal wrote to.
    pub conflicts: Vec<Conflict>,
    pub violations: Vec<Violation>,
    /// Calls to the world outside, to be made after the commit, each under its change's id.
    pub outbox: Vec<(ChangeId, ObjectId, Text, Datum)>,
    /// Objects that the live image had given up, and that the journal refers to.
    pub revived: Vec<ObjectId>,
    /// Places that now show what neither side wrote: to be verified whatever else was.
    pub reconciled: Vec<Place>,
}

impl Ledger {
    /// Takes note of what the live image did: changes in the order of their numbers, which its rest has not seen yet.
    /// Costs nothing while no fork is open.
    pub fn commit(&mut self, changes: &[Change], rest: &impl Rest) -> Result<(), Refusal> {
        let Some(last) = changes.last() else { return Ok(()) };
        if self.open_forks().next().is_none() {
            // What is still here is older than this, and would be wrong after it.
            self.compact();
            self.order += 1;
            self.admitted.insert(self.live, last.id.seq);
            return Ok(());
        }
        let newest = self.open_forks().map(|fork| fork.view.order).max().unwrap_or(0);
        let mut application = Application::new(self, rest, View::all(), None);
        application.replay(changes.iter().map(Told::from))?;
        application.settle_lines(&mut Outcome::default());
        application.settle_members(&mut Outcome::default());
        let touched = std::mem::take(&mut application.touched.registers);
        for at in touched {
            let register = &mut self.registers.at(at).register;
            register.live = register.shown().clone();
            let live = self.live;
            register.prune(|version, versions| {
                let mut later = versions.iter().filter(|other| other.replaces.ids().contains(&version.stamp.id));
                let is_sibling = later.any(|other| other.replaces.ids().len() > 1);
                is_sibling || version.stamp.id.actor != live || version.stamp.order <= newest
            });
        }
        self.admitted.insert(self.live, last.id.seq);
        Ok(())
    }

    /// Merges a fork's journal, or the rest of one. `receipt` is the time at which it came in.
    pub fn merge(
        &mut self,
        actor: ActorId,
        journal: &[Change],
        receipt: Time,
        rest: &impl Rest,
        reconciler: &impl Reconciler,
    ) -> Result<Outcome, Refusal> {
        let last = journal.last().map_or(0, |change| change.id.seq);
        if last <= self.admitted(actor) {
            return Ok(Outcome::default());
        }
        let fork = self.forks.get(&actor).filter(|fork| fork.is_open).ok_or(Refusal::UnknownFork(actor))?;
        let changes = self.new_changes(fork, journal)?;
        let forked = fork.time;
        let terms = ForkTerms { policy: fork.policy, exceptions: fork.exceptions.clone(), is_undo: fork.is_undo };
        let view = fork.view.clone();
        let mut application = Application::new(self, rest, view, Some(terms));
        application.replay(changes.iter().map(|change| owned(change, actor, forked, receipt)))?;
        let outcome = application.settle(reconciler);
        self.admitted.insert(actor, last);
        Ok(outcome)
    }

    /// All conflicts of places that are not at rest, in a fixed order.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut all: Vec<Conflict> = Vec::new();
        for Entry { object, field, register } in self.registers.iter() {
            let place = || Place { object: *object, position: Position::Field(field.clone()) };
            push_conflicts(place, register, &mut all);
        }
        for ((object, _), sequence) in &self.lines {
            for (element, register) in &sequence.settings {
                let Some(index) = sequence.live_index(*element) else { continue };
                push_conflicts(|| Place { object: *object, position: Position::Item(index) }, register, &mut all);
            }
        }
        all.sort();
        all
    }
}

impl Ledger {
    /// The protos that are left out now, in a fixed order.
    pub fn violations(&self) -> Vec<Violation> {
        let mut all = Outcome::default();
        for ((object, _), sequence) in &self.lines {
            sequence.report_cycles(*object, &sequence.suppressed, &BTreeSet::new(), &mut all);
        }
        all.violations.sort();
        all.violations
    }
}

impl<R: Rest> Application<'_, R> {
    fn settle(mut self, reconciler: &impl Reconciler) -> Outcome {
        let mut outcome = Outcome { effects: std::mem::take(&mut self.effects), ..Outcome::default() };
        let touched = std::mem::take(&mut self.touched.registers);
        outcome.effects.reserve(touched.len());
        for at in touched {
            settle_register(self.ledger.registers.at(at), reconciler, &mut outcome);
        }
        self.settle_lines(&mut outcome);
        self.settle_members(&mut outcome);
        outcome.outbox = std::mem::take(&mut self.outbox);
        outcome.revived = std::mem::take(&mut self.revived).into_iter().collect();
        outcome
    }

    fn settle_lines(&mut self, outcome: &mut Outcome) {
        let mut touched: BTreeSet<(ObjectId, Line)> = self.touched.lines.keys().copied().collect();
        let mut suppressed = BTreeMap::new();
        if touched.iter().any(|(_, line)| *line == Line::Protos) {
            suppressed = self.ledger.suppressed(&View::all(), &self.rest);
            let protos = self.ledger.lines.keys().filter(|(_, line)| *line == Line::Protos);
            touched.extend(protos);
        }
        let newest = self.ledger.open_forks().map(|fork| fork.view.order).max().unwrap_or(0);
        let (order, live) = (self.order, self.ledger.live);
        for place in touched {
            let Some(sequence) = self.ledger.lines.get_mut(&place) else { continue };
            let left_out = suppressed.remove(&place.0).filter(|_| place.1 == Line::Protos).unwrap_or_default();
            sequence.report_cycles(place.0, &left_out, &sequence.suppressed, outcome);
            sequence.settle(place, order, left_out, outcome);
            if place.1 != Line::Protos {
                sequence.coalesce(live, newest);
            }
        }
        outcome.violations.sort();
    }

    fn settle_members(&mut self, outcome: &mut Outcome) {
        for (object, member) in std::mem::take(&mut self.touched.members).into_keys() {
            let Some(members) = self.ledger.members.get_mut(&(object, member.clone())) else { continue };
            let (before, now) = (members.live, members.count());
            members.live = now;
            if now > before {
                let operation = Operation::Add { member, count: now - before };
                outcome.effects.push(Effect { object, operation });
            } else if now < before {
                let operation = Operation::Remove { member, count: before - now };
                outcome.effects.push(Effect { object, operation });
            }
        }
    }
}

fn settle_register(entry: &mut Entry, reconciler: &impl Reconciler, outcome: &mut Outcome) {
    let Entry { object, field, register } = entry;
    let object = *object;
    let mut shown = register.shown().clone();
    if register.versions.len() > 1 {
        let heads = register.heads();
        let place = || Place { object, position: Position::Field(field.clone()) };
        if let Some(value) = reconciled(place, register, &heads, reconciler) {
            shown = value;
            outcome.reconciled.push(place());
        } else {
            push_conflicts(place, register, &mut outcome.conflicts);
        }
    }
    if shown != register.live {
        register.live = shown.clone();
        outcome.effects.push(Effect { object, operation: Operation::Put { field: field.clone(), value: shown } });
    }
}

/// One value of all heads, if they differ and the reconciler finds one.
fn reconciled(
    place: impl Fn() -> Place,
    register: &Register<Datum>,
    heads: &[&Version<Datum>],
    reconciler: &impl Reconciler,
) -> Option<Datum> {
    let (first, others) = heads.split_first().filter(|_| differ(heads))?;
    let (place, base) = (place(), register.base(heads));
    let mut value = first.value.clone();
    for other in others.iter().filter(|other| other.value != first.value) {
        value = reconciler.reconcile(&place, base, &value, &other.value)?;
    }
    heads.iter().all(|head| head.value != value).then_some(value)
}

/// Where heads differ, and where somebody wrote over ones that did.
fn push_conflicts(place: impl Fn() -> Place, register: &Register<Datum>, found: &mut Vec<Conflict>) {
    let heads = register.heads();
    if differ(&heads) {
        let is_kept = heads.iter().any(|head| head.stamp.policy == Some(Policy::KeepBoth));
        let status = if is_kept { Status::Open } else { Status::Settled };
        found.push(conflict(place(), register, &heads, status));
    }
    for version in register.versions.iter().filter(|version| version.replaces.ids().len() > 1) {
        let mut replaced: Vec<_> = version.replaces.ids().iter().filter_map(|id| register.find(*id)).collect();
        replaced.sort_by_key(|version| std::cmp::Reverse(version.stamp.strength()));
        if differ(&replaced) {
            found.push(conflict(place(), register, &replaced, Status::Superseded));
        }
    }
}

fn differ(versions: &[&Version<Datum>]) -> bool {
    versions.split_first().is_some_and(|(first, others)| others.iter().any(|other| other.value != first.value))
}

fn conflict(place: Place, register: &Register<Datum>, versions: &[&Version<Datum>], status: Status) -> Conflict {
    let sibling = |version: &&Version<Datum>| Sibling {
        change: version.stamp.id,
        time: version.stamp.time,
        policy: version.stamp.policy,
        value: version.value.clone(),
    };
    Conflict {
        place,
        base: register.base(versions).clone(),
        siblings: versions.iter().map(sibling).collect(),
        shown: versions.first().map_or(Datum::Absent, |version| version.value.clone()),
        status,
    }
}

impl Sequence {
    pub(crate) fn live_index(&self, element: Element) -> Option<u64> {
        let (at, offset) = self.locate(element)?;
        let position = self.positions.get(&element).and_then(|register| *register.shown());
        let (at, offset) = match position {
            None => (at, offset),
            Some(change) => self.locate_any(Element { source: Source::Change(change), offset: 0 })?,
        };
        let all = View::all();
        self.shows(at, &all, &self.suppressed).then(|| self.index_of(at, &all, &self.suppressed) + offset)
    }

    /// Reports protos that are left out and were not before.
    fn report_cycles(
        &self,
        object: ObjectId,
        left_out: &BTreeSet<Element>,
        before: &BTreeSet<Element>,
        outcome: &mut Outcome,
    ) {
        for element in left_out.difference(before) {
            let Some((at, offset)) = self.locate(*element) else { continue };
            let (Some(Datum::Object(proto)), Some(stamp)) = (self.value(at, offset), self.pieces[at].stamp) else {
                continue;
            };
            outcome.violations.push(Violation::ProtoCycle { object, proto, change: stamp.id });
        }
    }

    /// Says how the image differs from what is shown now, and forgets values that it will hold.
    fn settle(&mut self, place: (ObjectId, Line), order: u64, left_out: BTreeSet<Element>, outcome: &mut Outcome) {
        let (object, line) = place;
        let (before, all) = (View::at(order - 1), View::all());
        let mut index = 0;
        let mut shown = Vec::with_capacity(self.pieces.len());
        for at in 0..self.pieces.len() {
            let count = self.pieces[at].count;
            let (was, is) = (self.shows(at, &before, &self.suppressed), self.shows(at, &all, &left_out));
            shown.push(is);
            match (was, is) {
                (true, false) => push_delete(&mut outcome.effects, object, line, index, count),
                (false, true) => {
                    let run = self.run(at, |register| register.shown().clone());
                    outcome.effects.push(Effect { object, operation: Operation::Insert { line, index, run } });
                }
                (true, true) => self.push_settings(object, at, index, outcome),
                (false, false) => {}
            }
            if is {
                index += count;
            }
        }
        self.suppressed = left_out;
        for register in self.settings.values_mut() {
            register.live = register.shown().clone();
        }
        for (piece, is_shown) in self.pieces.iter_mut().zip(shown) {
            if is_shown && line != Line::Protos {
                piece.values = None;
            }
        }
    }

    /// The values of a hidden piece that the image is to take in.
    pub(crate) fn run(&self, at: usize, setting: impl Fn(&Register<Datum>) -> Datum) -> Run {
        let piece = &self.pieces[at];
        let element = piece.moved.unwrap_or(piece.element(0));
        let home = self.locate(element).map_or(at, |(home, _)| home);
        let mut values = self.pieces[home].values.clone().expect("values of hidden elements are kept");
        if !self.settings.is_empty() {
            for offset in 0..piece.count {
                if let Some(register) = self.settings.get(&self.pieces[home].element(offset)) {
                    values.set_item(offset as usize, setting(register));
                }
            }
        }
        values.to_run()
    }

    fn push_settings(&self, object: ObjectId, at: usize, index: u64, outcome: &mut Outcome) {
        let piece = &self.pieces[at];
        let first = piece.moved.unwrap_or(piece.element(0));
        let end = Element { offset: first.offset + piece.count, ..first };
        for (element, register) in self.settings.range(first..end) {
            let index = index + element.offset - first.offset;
            if register.live != *register.shown() {
                let operation = Operation::Set { index, value: register.shown().clone() };
                outcome.effects.push(Effect { object, operation });
            }
            let place = || Place { object, position: Position::Item(index) };
            push_conflicts(place, register, &mut outcome.conflicts);
        }
    }
}

/// Deletions that follow each other are one.
fn push_delete(effects: &mut Vec<Effect>, object: ObjectId, line: Line, index: u64, count: u64) {
    if let Some(Effect { object: same, operation: Operation::Delete { line: other, index: at, count: before } }) =
        effects.last_mut()
        && (*same, *other, *at) == (object, line, index)
    {
        *before += count;
        return;
    }
    effects.push(Effect { object, operation: Operation::Delete { line, index, count } });
}
