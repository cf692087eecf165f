//! What objects of an image are called, and what they hold, for whoever shows what a dream did to them.

use dream::path::written;
use dream::show::Names;
use object::change::{Creation, Datum, Field, Line, ObjectId, Run, Text};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use store::Store;

/// So many objects are looked at for names; those nearest to the Lobby come first.
const LOOKED_AT_MAX: usize = 2_000;
/// How far from the Lobby, where programs keep their things,
const DEPTH_MAX: usize = 4;
/// and from Core.
const CORE_DEPTH_MAX: usize = 2;

/// The objects that all others are found from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Roots {
    pub lobby: Option<ObjectId>,
    pub core: Option<ObjectId>,
}

/// The image as it is now. What live did since the dream was forked shows as what was before it.
pub struct LiveNames<'s> {
    store: &'s Store,
    ways: Ways,
    /// The object that was asked about last: a dream may have written to thousands of slots of one.
    last: RefCell<Option<(ObjectId, Before)>>,
}

/// What an object was, slots by name.
struct Before {
    creation: Creation,
    slots: HashMap<Text, Datum>,
}

impl<'s> LiveNames<'s> {
    /// Of what is found from Lobby and Core.
    pub fn of(store: &'s Store, roots: &Roots) -> LiveNames<'s> {
        let mut found = Found { store, ways: Ways::default(), left: LOOKED_AT_MAX };
        // What is right below Core is called after that, though the Lobby leads there, too.
        found.spread(roots.core, "Core", 1);
        found.spread(roots.lobby, "Lobby", DEPTH_MAX);
        found.spread(roots.core, "Core", CORE_DEPTH_MAX);
        LiveNames { store, ways: found.ways, last: RefCell::default() }
    }

    pub fn into_ways(self) -> Ways {
        self.ways
    }

    fn look_at<T>(&self, object: ObjectId, look: impl FnOnce(&Before) -> T) -> Option<T> {
        let mut last = self.last.borrow_mut();
        match last.as_ref() {
            Some((known, before)) if *known == object => Some(look(before)),
            _ => {
                let creation = self.store.read(object).ok()??;
                let slots = creation.slots.iter().cloned().collect();
                let (_, before) = last.insert((object, Before { creation, slots }));
                Some(look(before))
            }
        }
    }
}

/// How objects are found: of thousands a few are called by their names, so those are made when they are.
#[derive(Default)]
pub struct Ways(HashMap<ObjectId, Way>);

#[derive(Clone, PartialEq, Eq)]
struct Way {
    /// None if that goes without saying.
    holder: Option<ObjectId>,
    slot: Text,
}

impl Ways {
    pub fn lead_to(&self, object: ObjectId) -> bool {
        self.0.contains_key(&object)
    }

    pub fn name(&self, object: ObjectId) -> Option<String> {
        let mut way = self.0.get(&object)?;
        let mut slots = vec![&way.slot];
        while let Some(holder) = way.holder {
            way = self.0.get(&holder)?;
            slots.push(&way.slot);
        }
        let written = |slot: &&Text| written(&image::readable_text(slot.as_bytes()));
        Some(slots.iter().rev().map(written).collect::<Vec<_>>().join(" "))
    }
}

/// Ways that were found by now.
struct Found<'s> {
    store: &'s Store,
    ways: Ways,
    /// So many may still be looked into.
    left: usize,
}

impl Found<'_> {
    /// Names what is found from a root, so far from it; what has a name keeps it.
    fn spread(&mut self, root: Option<ObjectId>, name: &str, depth_max: usize) {
        let way = Way { holder: None, slot: Text::from(name.as_bytes()) };
        let mut queue: VecDeque<(ObjectId, Way, usize)> = root.map(|root| (root, way, 0)).into_iter().collect();
        let mut met = HashSet::new();
        while let Some((object, way, depth)) = queue.pop_front() {
            if !met.insert(object) {
                continue;
            }
            let is_its_own = depth == 0 || self.ways.0.get(&object).is_none_or(|known| *known == way);
            self.ways.0.entry(object).or_insert(way);
            if depth == depth_max || self.left == 0 || !is_its_own {
                continue;
            }
            self.left -= 1;
            let Ok(Some(creation)) = self.store.read(object) else { continue };
            let holder = (depth > 0).then_some(object);
            queue.extend(creation.slots.iter().filter_map(|(slot, value)| match value {
                Datum::Object(id) => Some((*id, Way { holder, slot: slot.clone() }, depth + 1)),
                _ => None,
            }));
        }
    }
}

/// The object in a slot of a record.
pub fn slot_of(record: &Creation, name: &str) -> Option<ObjectId> {
    match record.slots.iter().find(|(slot, _)| slot.as_bytes() == name.as_bytes())? {
        (_, Datum::Object(id)) => Some(*id),
        _ => None,
    }
}

impl Names for LiveNames<'_> {
    fn name(&self, object: ObjectId) -> Option<String> {
        self.ways.name(object)
    }

    fn before(&self, object: ObjectId, field: &Field) -> Option<Datum> {
        self.look_at(object, |before| match field {
            Field::Slot(name) => before.slots.get(name).cloned().unwrap_or_default(),
            _ => before.creation.field(field),
        })
    }

    fn run_before(&self, object: ObjectId, line: Line) -> Option<Run> {
        let draft = object::change::Draft::from(self.look_at(object, |before| before.creation.clone())?);
        Some(draft.elements(line, 0, draft.len(line)))
    }
}
