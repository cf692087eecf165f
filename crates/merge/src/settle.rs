//! The end of a commit or merge: what each place that was touched shows now, and how that differs from the image.

use crate::admit::Refusal;
use crate::apply::Application;
use crate::conflict::{Conflict, Place, Position, Violation, differ, push_conflicts};
use crate::register::{Register, Version};
use crate::registers::Entry;
use crate::rest::{Reconciler, Rest};
use crate::steps::Steps;
use object::change::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

impl<R: Rest> Application<'_, R> {
    pub fn settle(mut self, reconciler: &impl Reconciler) -> Outcome {
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

    fn has_other_protos(&self) -> bool {
        self.touched.lines.keys().any(|(_, line)| *line == Line::Protos)
    }

    /// Finds out what becomes of protos, before anything is settled; takes all back if that takes too long.
    pub fn rule(&mut self, actor: ActorId, steps: &Steps) -> Result<(), Refusal> {
        if self.has_other_protos() {
            self.rulings = Some(self.ledger.find_rulings(&self.rest, steps));
        }
        if steps.are_used_up() {
            self.take_back();
            return Err(Refusal::Knotted(actor));
        }
        Ok(())
    }

    pub fn settle_lines(&mut self, outcome: &mut Outcome) {
        let mut touched: BTreeSet<(ObjectId, Line)> = self.touched.lines.keys().copied().collect();
        let mut rulings = BTreeMap::new();
        if self.has_other_protos() {
            let find = || self.ledger.find_rulings(&self.rest, &Steps::unbounded());
            rulings = self.rulings.take().unwrap_or_else(find);
            self.ledger.rulings = Arc::new(rulings.clone());
            let protos = self.ledger.lines.keys().filter(|(_, line)| *line == Line::Protos);
            touched.extend(protos);
        }
        let newest = self.ledger.newest();
        let (order, live) = (self.order, self.ledger.live);
        for place in touched {
            let Some(sequence) = self.ledger.lines.get_mut(&place) else { continue };
            let ruling = rulings.remove(&place.0).filter(|_| place.1 == Line::Protos).unwrap_or_default();
            sequence.report_cycles(place.0, &ruling, &sequence.ruling, outcome);
            sequence.settle(place, order, ruling, outcome);
            if self.fork.is_none() {
                sequence.settings.values_mut().for_each(|register| register.prune_unseen(live, newest));
                sequence.positions.values_mut().for_each(|moved| moved.register.prune_unseen(live, newest));
            }
            if place.1 != Line::Protos {
                sequence.coalesce(live, newest);
            }
        }
        outcome.violations.sort();
    }

    pub fn settle_members(&mut self, outcome: &mut Outcome) {
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
            if heads.iter().all(|head| head.value != value) {
                outcome.reconciled.push(place());
            }
            shown = value;
        } else {
            push_conflicts(place, register, &heads, &mut outcome.conflicts);
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
    Some(value)
}
