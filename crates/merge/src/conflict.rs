//! What a merge has to say beside its effects: two sides wrote (a conflict), or the union breaks a rule (a violation).

use crate::ledger::Ledger;
use crate::line::Ruling;
use crate::register::{Register, Version};
use crate::registers::Entry;
use crate::settle::Outcome;
use crate::stamp::Policy;
use object::change::{ChangeId, Datum, Field, ObjectId, Time};

/// Where something is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub object: ObjectId,
    pub position: Position,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Position {
    Field(Field),
    /// An item of a list, by its index in the live image when this was said.
    Item(u64),
}

/// Several sides wrote different values to one place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Conflict {
    pub place: Place,
    /// The value that all sides started from.
    pub base: Datum,
    /// The strongest first.
    pub siblings: Vec<Sibling>,
    pub shown: Datum,
    pub status: Status,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sibling {
    pub change: ChangeId,
    pub time: Time,
    /// None for the live image.
    pub policy: Option<Policy>,
    pub value: Datum,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Status {
    /// Some side asked to keep both: somebody has to decide.
    Open,
    /// A policy decided; the siblings are here so that no value is lost.
    Settled,
    /// Somebody wrote over all siblings, having seen them. A conflict that was open stays to be closed.
    Superseded,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Violation {
    /// The proto was left out, because it would close a cycle that neither side had.
    ProtoCycle { object: ObjectId, proto: ObjectId, change: ChangeId },
}

impl Ledger {
    /// All conflicts of places that are not at rest, in a fixed order.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut all: Vec<Conflict> = Vec::new();
        for Entry { object, field, register } in self.registers.iter() {
            let place = || Place { object: *object, position: Position::Field(field.clone()) };
            push_conflicts(place, register, &register.heads(), &mut all);
        }
        for ((object, _), sequence) in &self.lines {
            for (element, register) in &sequence.settings {
                let Some(index) = sequence.live_index(*element) else { continue };
                let place = || Place { object: *object, position: Position::Item(index) };
                push_conflicts(place, register, &register.heads(), &mut all);
            }
        }
        all.sort();
        all
    }

    /// The protos that are left out now, in a fixed order.
    pub fn violations(&self) -> Vec<Violation> {
        let mut all = Outcome::default();
        for ((object, _), sequence) in &self.lines {
            sequence.report_cycles(*object, &sequence.ruling, &Ruling::default(), &mut all);
        }
        all.violations.sort();
        all.violations
    }
}

/// Where heads differ, and where somebody wrote over ones that did.
pub(crate) fn push_conflicts(
    place: impl Fn() -> Place,
    register: &Register<Datum>,
    heads: &[&Version<Datum>],
    found: &mut Vec<Conflict>,
) {
    if differ(heads) {
        let is_kept = heads.iter().any(|head| head.stamp.policy == Some(Policy::KeepBoth));
        let status = if is_kept { Status::Open } else { Status::Settled };
        found.push(conflict(place(), register, heads, status));
    }
    for version in register.versions.iter().filter(|version| version.replaces.ids().len() > 1) {
        let mut replaced: Vec<_> = version.replaces.ids().iter().filter_map(|id| register.find(*id)).collect();
        replaced.sort_by_key(|version| std::cmp::Reverse(version.stamp.strength()));
        if differ(&replaced) {
            found.push(conflict(place(), register, &replaced, Status::Superseded));
        }
    }
}

pub(crate) fn differ(versions: &[&Version<Datum>]) -> bool {
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
