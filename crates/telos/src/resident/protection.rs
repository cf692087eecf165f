//! What a dream may not change, and no test may write to: all that the image was born with, but for what programs use to keep their
//! own things in, live's `Verification` with all that belongs to it, and what somebody locked. A person's token lifts it.

use super::Roots;
use super::names::slot_of;
use super::records::KnownRecords;
use image::Guard;
use object::Kind;
use object::change::{ActorId, Body, Change, ChangeId, Creation, Datum, Field, ObjectId, Operation, Run, Text};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use store::Store;

/// So many objects belong to a Verification at most; more of them are not looked for, and a dream that touches those is judged
/// by what it touched.
const BELONGING_MAX: usize = 20_000;

/// Objects of Core that the machine, or the library for it, writes to while programs run.
pub const OF_MACHINE: &[&str] = &["Scheduler", "Coroutine", "Date", "Random", "Importer"];
/// But not to what this one holds: whoever is asked for names that nobody knows runs in live.
const ASKED_FOR_NAMES: &str = "Importer";
/// Of what their slots hold it writes to these.
const HELD_KINDS: [Kind; 3] = [Kind::List, Kind::Map, Kind::Coroutine];
/// Slots of Telos that say how dreams are judged, and what came of it; beside those that it was born with.
const OF_TELOS: &[&str] = &[
    "verification",
    "merges",
    "conflicts",
    "violations",
    "outbox",
    "delivered",
    "rejections",
    "rejectionsOf",
    "archive",
    "locks",
    "noteRejection",
    "mergeEvolution",
];
/// Slots of the Lobby by which all of that is found, and what answers for names that nobody knows; beside those that it was born with.
const OF_LOBBY: &[&str] = &["Lobby", "Protos", "Telos", "forward"];

const BELONGS: &str = "it belongs to the Verification";

/// What belongs to live's Verification.
pub enum Belonging {
    /// To be found from it.
    Unknown(Option<ObjectId>),
    Known(BTreeSet<ObjectId>),
}

/// What an image was born with, which is the same as long as there is the image.
#[derive(Clone, Default)]
pub struct Genesis {
    /// The number of the last change of the first commit.
    last_change: u64,
    /// Slots of the Lobby and of Telos.
    slots: Arc<BTreeSet<(ObjectId, Text)>>,
}

impl Genesis {
    /// Reads all of the first commit: to be kept.
    pub fn of(store: &Store, roots: &Roots) -> Genesis {
        let Some(first) = store.commit_at(1).ok().flatten() else { return Genesis::default() };
        let record = |id: ObjectId| store.read(id).ok().flatten();
        let telos = roots.lobby.and_then(record).and_then(|lobby| slot_of(&lobby, "Telos"));
        let mut slots = BTreeSet::new();
        for Change { object, operation, .. } in &first.changes {
            if ![roots.lobby, telos].contains(&Some(*object)) {
                continue;
            }
            match operation {
                Operation::Put { field: Field::Slot(slot), .. } => _ = slots.insert((*object, slot.clone())),
                Operation::Create(made) => slots.extend(made.slots.iter().map(|(slot, _)| (*object, slot.clone()))),
                _ => {}
            }
        }
        Genesis { last_change: first.changes.last().map_or(0, |last| last.id.seq), slots: Arc::new(slots) }
    }
}

pub struct Protected {
    live: ActorId,
    genesis: Genesis,
    /// Where programs keep their things, and the machine its own: the Lobby, Telos, queues.
    open: BTreeSet<ObjectId>,
    /// What the machine writes to itself.
    of_machine: BTreeSet<ObjectId>,
    lobby: Option<ObjectId>,
    telos: Option<ObjectId>,
    /// What was written down about merges.
    records: KnownRecords,
    /// What somebody locked.
    locked: Guard,
    /// Why, in words.
    others: BTreeMap<ObjectId, &'static str>,
}

impl Protected {
    pub fn of(store: &Store, roots: &Roots, genesis: Genesis, verification: Belonging, locked: &Guard) -> Protected {
        let live = roots.lobby.and_then(ObjectId::minted_by).map_or(ActorId(0), |made| made.actor);
        let record = |id: ObjectId| store.read(id).ok().flatten();
        let (mut open, mut of_machine): (BTreeSet<ObjectId>, _) = (roots.lobby.into_iter().collect(), BTreeSet::new());
        let telos = roots.lobby.and_then(record).and_then(|lobby| slot_of(&lobby, "Telos"));
        open.extend(telos);
        if let Some(core) = roots.core.and_then(record) {
            for (name, object) in OF_MACHINE.iter().filter_map(|name| Some((*name, slot_of(&core, name)?))) {
                of_machine.insert(object);
                if name == ASKED_FOR_NAMES {
                    continue;
                }
                let held = record(object).into_iter().flat_map(|object| object.slots);
                let held = held.filter_map(|(_, value)| if let Datum::Object(id) = value { Some(id) } else { None });
                open.extend(held.filter(|id| record(*id).is_some_and(|held| image::is_one_of(held.kind, &HELD_KINDS))));
            }
        }
        // Whoever waits leaves its stack in its coroutine, and when it is to go on: the one that tests run in is the root's.
        let root = record(ObjectId::minted(ChangeId::new(store::LIVE_ACTOR, 1)));
        of_machine.extend(root.and_then(|root| slot_of(&root, "main")));
        let (lobby, records) = (roots.lobby, KnownRecords::of(store, roots));
        let (locked, others) = (locked.clone(), BTreeMap::new());
        let mut protected = Protected { live, genesis, open, of_machine, lobby, telos, records, locked, others };
        match verification {
            Belonging::Unknown(verification) => protected.add_belonging(verification, record),
            Belonging::Known(objects) => protected.others.extend(objects.into_iter().map(|object| (object, BELONGS))),
        }
        protected
    }

    /// What belongs to the Verification, and was not there from the beginning.
    pub fn belonging(&self) -> impl Iterator<Item = ObjectId> {
        self.others.keys().copied()
    }

    /// Whether no program may write to it while it is judged. What is only locked is no part of the judge: a test may write to it, and
    /// what it wrote is taken back.
    pub fn holds(&self, object: ObjectId) -> bool {
        self.is_protected(object) && !self.of_machine.contains(&object)
    }

    /// Whether no dream may make this change. What the machine writes for itself is not among a dream's changes.
    pub fn keeps(&self, store: &Store, change: &Change) -> bool {
        if matches!(change.operation, Operation::Call { .. }) {
            return false;
        }
        // Of these, all but other slots: protos are nothing to a dream either.
        let is_kept_slot = |slots: &[&str]| match &change.operation {
            Operation::Put { field: Field::Slot(slot), .. } => {
                slots.iter().any(|name| name.as_bytes() == slot.as_bytes())
                    || self.genesis.slots.contains(&(change.object, slot.clone()))
            }
            _ => true,
        };
        let is_kept_of = |object: Option<ObjectId>, slots| object == Some(change.object) && is_kept_slot(slots);
        self.is_protected(change.object)
            || is_kept_of(self.telos, OF_TELOS)
            || is_kept_of(self.lobby, OF_LOBBY)
            || self.locked.holder(store, change).is_some()
            || self.records.have(store, change.object)
    }

    pub fn is_protected(&self, object: ObjectId) -> bool {
        self.others.contains_key(&object) || (self.is_of_genesis(object) && !self.open.contains(&object))
    }

    /// Why it is protected, for people.
    pub fn why(&self, object: ObjectId) -> &'static str {
        self.others.get(&object).copied().unwrap_or("the image was born with it")
    }

    fn is_of_genesis(&self, object: ObjectId) -> bool {
        object.minted_by().is_some_and(|made| made.actor == self.live && made.seq <= self.genesis.last_change)
    }

    /// All that is found from live's Verification and was not there from the beginning.
    fn add_belonging(&mut self, verification: Option<ObjectId>, record: impl Fn(ObjectId) -> Option<Creation>) {
        let mut queue: VecDeque<ObjectId> = verification.into_iter().collect();
        let mut looked_at = 0;
        while let Some(object) = queue.pop_front().filter(|_| looked_at < BELONGING_MAX) {
            if self.is_of_genesis(object) || self.others.insert(object, BELONGS).is_some() {
                continue;
            }
            looked_at += 1;
            queue.extend(record(object).iter().flat_map(references));
        }
    }
}

/// What a record holds in its slots.
pub fn held_objects(record: &Creation) -> Vec<ObjectId> {
    let objects = record.slots.iter();
    objects.filter_map(|(_, value)| if let Datum::Object(id) = value { Some(*id) } else { None }).collect()
}

fn references(record: &Creation) -> Vec<ObjectId> {
    let mut found = parts(record);
    found.extend(&record.protos);
    found
}

/// What a record holds in its slots and as its content.
pub fn parts(record: &Creation) -> Vec<ObjectId> {
    let mut found = Vec::new();
    let mut take = |datum: &Datum| match datum {
        Datum::Object(id) => found.push(*id),
        Datum::Record(fields) => found.extend(fields.iter().filter_map(|field| match field {
            Datum::Object(id) => Some(*id),
            _ => None,
        })),
        _ => {}
    };
    record.slots.iter().for_each(|(_, value)| take(value));
    match &record.body {
        Body::Data(datum) => take(datum),
        Body::Elements(Run::Items(items)) => items.iter().for_each(&mut take),
        Body::Map(entries) => entries.iter().for_each(|(_, value)| take(value)),
        _ => {}
    }
    found
}
