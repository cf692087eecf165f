//! What of a journal is merged: all but what the machine keeps for itself, or only what was asked for; and of new objects those
//! that this reaches. What is left out stands in the journal as a change that is none, so that numbers stay.
//!
//! **The machine's own** is the root, coroutines, calls and frames, the locals that their stacks hold, the queues of the
//! scheduler and the clock's prototype. Locals that no stack holds are what blocks remember, and merged like other objects.

use super::arrival::{Arrival, Left};
use crate::error::ImageError;
use crate::form::Flags;
use crate::landmarks::{Landmarks, slot_object};
use crate::retell::{is_nothing, nothing};
use merge::Position;
use object::Kind;
use object::change::{Change, Datum, Field, Line, ObjectId, Operation, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use store::{Found, Store};

pub struct Selected {
    pub journal: Vec<Change>,
    pub left_out: Vec<Left>,
    pub of_machine: BTreeSet<u64>,
}

pub fn select(store: &Store, landmarks: &Landmarks, arrival: &Arrival) -> Result<Selected, ImageError> {
    check_numbers(arrival)?;
    let journal = Journal::new(&arrival.changes);
    let machine = Machine::of(store, landmarks, &journal)?;
    let is_asked = |change: &Change| arrival.only.as_ref().is_none_or(|only| is_among(only, change));
    let mut taken = vec![false; journal.changes.len()];
    let (mut left_out, mut of_machine) = (Vec::new(), BTreeSet::new());
    let is_found = |change: &Change| !journal.makes(change.object) && !is_nothing(change);
    for (at, change) in journal.changes.iter().enumerate().filter(|(_, change)| is_found(change)) {
        if machine.keeps(change) {
            of_machine.insert(change.id.seq);
        } else if is_asked(change) {
            taken[at] = true;
        } else {
            left_out.push(Left { object: change.object, place: place_text(&change.operation) });
        }
    }
    // All of what was asked for is taken with what it refers to; else what nobody refers to any more is left, if it is code
    // that was running.
    let is_root = |object: &ObjectId| arrival.only.is_none() && !machine.is_running(&journal, *object);
    journal.reach(&mut taken, is_root);
    let is_left = |(change, taken): &(&Change, &bool)| !**taken && machine.is_running(&journal, change.object);
    of_machine.extend(journal.changes.iter().zip(&taken).filter(is_left).map(|(change, _)| change.id.seq));
    left_out.sort();
    left_out.dedup();
    // What is left out is about nothing that it would have made: that is never there.
    let left = |change: &Change| Change { object: landmarks.root, ..nothing(change) };
    let taken_or_nothing = |(change, taken): (&Change, &bool)| if *taken { change.clone() } else { left(change) };
    let changes = journal.changes.iter().zip(&taken).map(taken_or_nothing).collect();
    Ok(Selected { journal: changes, left_out, of_machine })
}

fn check_numbers(arrival: &Arrival) -> Result<(), ImageError> {
    let is_own = |(change, seq): (&Change, u64)| change.id.actor == arrival.actor && change.id.seq == seq;
    match arrival.changes.iter().zip(1..).all(is_own) {
        true => Ok(()),
        false => Err(ImageError::NotMerged("its changes are not its own, from 1 on without gaps".into())),
    }
}

pub fn is_among(only: &[(ObjectId, Option<Text>)], change: &Change) -> bool {
    only.iter().any(|(object, slot)| {
        let is_slot =
            |name| matches!(&change.operation, Operation::Put { field: Field::Slot(each), .. } if each == name);
        *object == change.object && slot.as_ref().is_none_or(is_slot)
    })
}

const fn is_call(change: &Change) -> bool {
    matches!(change.operation, Operation::Call { .. })
}

fn place_text(operation: &Operation) -> String {
    match operation {
        Operation::Put { field, .. } => super::record::place_text(&Position::Field(field.clone())),
        Operation::Insert { line: Line::Protos, .. } | Operation::Delete { line: Line::Protos, .. } => "protos".into(),
        Operation::Call { name, .. } => format!("call \"{name}\""),
        _ => "content".into(),
    }
}

/// The changes, and which of them are about which of the objects that they make.
struct Journal<'j> {
    changes: &'j [Change],
    made: FxHashMap<ObjectId, Vec<usize>>,
}

impl<'j> Journal<'j> {
    fn new(changes: &'j [Change]) -> Journal<'j> {
        let mut made: FxHashMap<ObjectId, Vec<usize>> = FxHashMap::default();
        for (at, change) in changes.iter().enumerate() {
            if matches!(change.operation, Operation::Create(_)) {
                made.entry(change.object).or_default().push(at);
            } else if let Some(places) = made.get_mut(&change.object) {
                places.push(at);
            }
        }
        Journal { changes, made }
    }

    fn makes(&self, object: ObjectId) -> bool {
        self.made.contains_key(&object)
    }

    /// Takes new objects that what is taken refers to, and those that `is_root` names.
    fn reach(&self, taken: &mut [bool], is_root: impl Fn(&ObjectId) -> bool) {
        let mut pending: Vec<ObjectId> = self.made.keys().copied().filter(is_root).collect();
        let refer = |change: &Change, pending: &mut Vec<ObjectId>| {
            change.operation.references(&mut |object| pending.push(object));
        };
        for (change, _) in self.changes.iter().zip(taken.iter()).filter(|(_, taken)| **taken) {
            refer(change, &mut pending);
        }
        let mut seen = FxHashSet::default();
        while let Some(object) = pending.pop() {
            let Some(places) = self.made.get(&object).filter(|_| seen.insert(object)) else { continue };
            for &at in places {
                taken[at] = true;
                refer(&self.changes[at], &mut pending);
            }
        }
    }
}

/// What programs never touch themselves.
struct Machine {
    kinds: FxHashMap<ObjectId, Kind>,
    root: ObjectId,
    /// Of these the machine changes what they hold; programs change their slots.
    content: FxHashSet<ObjectId>,
    /// What stacks refer to.
    stacked: FxHashSet<ObjectId>,
}

impl Machine {
    fn of(store: &Store, landmarks: &Landmarks, journal: &Journal<'_>) -> Result<Machine, ImageError> {
        let (mut kinds, mut stacked) = (FxHashMap::default(), FxHashSet::default());
        for change in journal.changes {
            let object = change.object;
            if !journal.makes(object) && !kinds.contains_key(&object) {
                kinds.insert(object, kind_of(store, object)?.unwrap_or(Kind::Object));
                if is_stack(kinds[&object]) {
                    let record = store.read(object)?;
                    record.iter().for_each(|record| record.references(&mut |held| stacked.extend([held])));
                }
            }
            if kinds.get(&object).copied().is_some_and(is_stack) {
                change.operation.references(&mut |held| stacked.extend([held]));
            }
        }
        let mut content = FxHashSet::default();
        if let Some(core) = store.read(landmarks.core)? {
            content.extend(slot_object(&core, "Date"));
            let scheduler = slot_object(&core, "Scheduler").map(|id| store.read(id)).transpose()?.flatten();
            let slots = scheduler.iter().flat_map(|scheduler| &scheduler.slots);
            content.extend(slots.filter_map(|(_, value)| if let Datum::Object(id) = value { Some(*id) } else { None }));
        }
        Ok(Machine { kinds, root: landmarks.root, content, stacked })
    }

    fn keeps(&self, change: &Change) -> bool {
        let sets_slot = matches!(change.operation, Operation::Put { field: Field::Slot(_), .. });
        let kind = self.kinds.get(&change.object).copied().unwrap_or(Kind::Object);
        let is_its_own = change.object == self.root
            || is_stack(kind)
            || (kind == Kind::Locals && self.stacked.contains(&change.object))
            || (self.content.contains(&change.object) && !sets_slot);
        is_its_own && !is_call(change)
    }

    /// Whether a new object is a stack, or what one stands on.
    fn is_running(&self, journal: &Journal<'_>, object: ObjectId) -> bool {
        let made = journal.made.get(&object).and_then(|places| places.first());
        let Some(Operation::Create(creation)) = made.map(|at| &journal.changes[*at].operation) else { return false };
        let kind = Flags::from_number(creation.flags).map(|flags| flags.kind);
        kind.is_some_and(|kind| is_stack(kind) || kind == Kind::Locals)
    }
}

const fn is_stack(kind: Kind) -> bool {
    matches!(kind, Kind::Call | Kind::Coroutine | Kind::Frame)
}

fn kind_of(store: &Store, object: ObjectId) -> Result<Option<Kind>, ImageError> {
    let flags = store.look_at(object, |found| match found {
        Found::Stored(creation) => creation.flags,
        Found::Changed(creation) => creation.flags,
    })?;
    Ok(flags.and_then(Flags::from_number).map(|flags| flags.kind))
}
