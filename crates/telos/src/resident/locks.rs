//! Locks: what of an image changes only with a person's token. Owns where they are kept, `Telos locks`, as records of the image's own
//! log; what each covers; and that nothing but `telos lock` and `telos unlock` writes there.
//!
//! **What a lock covers.** The object with its slots, protos and content; the slot by whose name it was locked, so that nobody puts
//! another object in its place; and what belongs to it: methods, lists, maps, texts and numbers that it or one of these holds, unless
//! they are prototypes with a `type` of their own. Other objects in its slots are not covered, and want locks of their own.
//! As nothing of this changes without a person, what is covered is found once, and again when a person changed something.

use super::names::slot_of;
use super::protection::parts;
use super::{Roots, judges};
use crate::report;
use image::Guard;
use keeper::protocol::LockLine;
use object::Kind;
use object::change::{Body, ChangeId, Creation, Datum, ObjectId, Run, Text};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use store::{Store, StoreError};

/// So much belongs to one object.
pub const COVERED_MAX: usize = 20_000;
/// The slot of Telos that has the locks.
pub const SLOT: &str = "locks";
/// What belongs to whoever holds it.
const BELONGING: [Kind; 6] = [Kind::Number, Kind::Sequence, Kind::List, Kind::Map, Kind::Block, Kind::Message];
pub const WHOLE: &str = "the image";

pub fn dream_is_locked(name: &str) -> String {
    format!("dream {name} is locked, and changes only with a person's token; nothing was done")
}

/// What one lock is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    Object { object: ObjectId, holder: Option<(ObjectId, Text)> },
    Dream,
    Whole,
}

#[derive(Clone, Debug)]
pub struct Lock {
    pub held: Held,
    pub name: String,
    author: String,
    cause: String,
    time_ms: i64,
    covers: u64,
    /// Its place in the list.
    pub place: usize,
}

impl Lock {
    pub fn kind(&self) -> &'static str {
        match self.held {
            Held::Object { .. } => "object",
            Held::Dream => "dream",
            Held::Whole => "whole",
        }
    }

    pub fn line(&self) -> LockLine {
        let object_id = match &self.held {
            Held::Object { object, .. } => Some(object.to_string()),
            Held::Dream | Held::Whole => None,
        };
        LockLine {
            kind: self.kind().into(),
            name: self.name.clone(),
            object_id,
            covers: self.covers,
            author: self.author.clone(),
            cause: self.cause.clone(),
            time_ms: self.time_ms,
        }
    }

    fn read(record: &Creation) -> Option<Lock> {
        let Body::Map(entries) = &record.body else { return None };
        let found = |key: &str| entries.iter().find(|(each, _)| is_text(each, key)).map(|(_, value)| value);
        let word = |key: &str| match found(key) {
            Some(Datum::Text(text)) => image::readable_text(text.as_bytes()),
            _ => String::new(),
        };
        let object = |key: &str| if let Some(Datum::Object(id)) = found(key) { Some(*id) } else { None };
        let held = match word("kind").as_str() {
            "object" => {
                let slot = if let Some(Datum::Text(slot)) = found("slot") { Some(slot.clone()) } else { None };
                Held::Object { object: object("object")?, holder: object("holder").zip(slot) }
            }
            "dream" => Held::Dream,
            "whole" => Held::Whole,
            _ => return None,
        };
        let time_ms = if let Some(Datum::Number(time)) = found("time") { *time as i64 } else { 0 };
        Some(Lock {
            held,
            name: word("name"),
            author: word("author"),
            cause: word("cause"),
            time_ms,
            covers: 0,
            place: 0,
        })
    }
}

fn is_text(datum: &Datum, text: &str) -> bool {
    matches!(datum, Datum::Text(each) if each.as_bytes() == text.as_bytes())
}

/// All locks of an image, and what they hold.
#[derive(Debug, Default)]
pub struct Locks {
    pub all: Vec<Lock>,
    guard: Guard,
}

impl Locks {
    /// As the store has them. Where they cannot be read, everything is locked: nobody knows what is.
    pub fn of(store: &Store) -> Locks {
        Locks::read(store).unwrap_or_else(|problem| {
            report::say(&format!("warning: the image is taken for locked, for its locks cannot be read: {problem}"));
            let mut guard = Guard::default();
            guard.hold_all(&Rc::from(WHOLE));
            Locks { all: Vec::new(), guard }
        })
    }

    fn read(store: &Store) -> Result<Locks, String> {
        let mut locks = Locks::default();
        let roots = roots_of(store).map_err(|error| error.to_string())?;
        let record = |id: Option<ObjectId>| -> Result<Option<Creation>, String> {
            id.map_or(Ok(None), |id| store.read(id).map_err(|error| error.to_string()))
        };
        let telos_id = record(roots.lobby)?.and_then(|lobby| slot_of(&lobby, "Telos"));
        let Some((telos_id, telos)) = telos_id.zip(record(telos_id)?) else { return Ok(locks) };
        let own: Rc<str> = Rc::from("the list of locks");
        locks.guard.hold_slot(telos_id, Text::from(SLOT), &own);
        let list = slot_of(&telos, SLOT);
        list.iter().for_each(|list| locks.guard.hold(*list, &own));
        for (place, id) in record(list)?.iter().flat_map(items_of).enumerate() {
            let Some(mut lock) = record(id)?.as_ref().and_then(Lock::read) else { continue };
            id.iter().for_each(|id| locks.guard.hold(*id, &own));
            lock.place = place;
            lock.covers = locks.hold(&lock, store)?;
            locks.all.push(lock);
        }
        if let Some(lobby) = roots.lobby.filter(|_| !locks.all.is_empty()) {
            locks.guard.hold_slot(lobby, Text::from("Telos"), &Rc::from("Telos, which has the list of locks,"));
        }
        judges::hold(&mut locks.guard, store, &roots)?;
        Ok(locks)
    }

    fn hold(&mut self, lock: &Lock, store: &Store) -> Result<u64, String> {
        let name: Rc<str> = Rc::from(lock.name.as_str());
        match &lock.held {
            Held::Object { object, holder } => {
                let covered = covered(store, *object)?;
                covered.iter().for_each(|each| self.guard.hold(*each, &name));
                holder.iter().for_each(|(holder, slot)| self.guard.hold_slot(*holder, slot.clone(), &name));
                Ok(covered.len() as u64)
            }
            Held::Dream => Ok(0),
            Held::Whole => {
                self.guard.hold_all(&name);
                Ok(0)
            }
        }
    }

    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    pub fn holds_dream(&self, name: &str) -> bool {
        self.dreams().any(|each| each == name)
    }

    pub fn dreams(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter(|lock| lock.held == Held::Dream).map(|lock| lock.name.as_str())
    }
}

/// Where all else is found from, without a machine.
pub fn roots_of(store: &Store) -> Result<Roots, StoreError> {
    let root = store.read(ObjectId::minted(ChangeId::new(store::LIVE_ACTOR, 1)))?.unwrap_or_default();
    Ok(Roots { lobby: slot_of(&root, "lobby"), core: slot_of(&root, "core") })
}

fn items_of(list: &Creation) -> Vec<Option<ObjectId>> {
    let Body::Elements(Run::Items(items)) = &list.body else { return Vec::new() };
    items.iter().map(|item| if let Datum::Object(id) = item { Some(*id) } else { None }).collect()
}

/// An object and what belongs to it.
pub fn covered(store: &Store, object: ObjectId) -> Result<BTreeSet<ObjectId>, String> {
    match covered_with(store, object, &mut |_| {})? {
        covered if covered.len() <= COVERED_MAX => Ok(covered),
        _ => Err(format!("more than {COVERED_MAX} objects belong to it; lock parts of it, or the whole image")),
    }
}

/// The same, as far as it goes: at most one more than may be. `meet` is told all other objects that these hold.
pub fn covered_with(
    store: &Store,
    object: ObjectId,
    meet: &mut dyn FnMut(ObjectId),
) -> Result<BTreeSet<ObjectId>, String> {
    let (mut covered, mut queue) = (BTreeSet::new(), VecDeque::from([object]));
    while let Some(each) = queue.pop_front() {
        let Some(record) = store.read(each).map_err(|error| error.to_string())? else { continue };
        let has_type = || record.slots.iter().any(|(slot, _)| slot.as_bytes() == b"type");
        let belongs = each == object || (image::is_one_of(record.kind, &BELONGING) && !has_type());
        if !belongs {
            meet(each);
            continue;
        }
        if !covered.insert(each) {
            continue;
        }
        if covered.len() > COVERED_MAX {
            break;
        }
        queue.extend(parts(&record).into_iter().filter(|part| !covered.contains(part)));
    }
    Ok(covered)
}
