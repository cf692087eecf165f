//! What objects of an image are called, and what they hold, for whoever shows what a dream did to them.

use dream::show::Names;
use object::change::{Creation, Datum, Field, Line, ObjectId, Run};
use std::collections::{BTreeMap, VecDeque};
use store::Store;

/// So many objects are looked at for names; those nearest to the Lobby come first.
const LOOKED_AT_MAX: usize = 2_000;
/// How far from the Lobby.
const DEPTH_MAX: usize = 2;

/// The objects that all others are found from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Roots {
    pub lobby: Option<ObjectId>,
    pub core: Option<ObjectId>,
}

/// The image as it is now. What live did since the dream was forked shows as what was before it.
pub struct LiveNames<'s> {
    store: &'s Store,
    names: BTreeMap<ObjectId, String>,
}

impl<'s> LiveNames<'s> {
    /// Of what is found from Lobby and Core.
    pub fn of(store: &'s Store, roots: &Roots) -> LiveNames<'s> {
        let mut names = BTreeMap::new();
        let roots = [(roots.lobby, "Lobby"), (roots.core, "")];
        let mut queue: VecDeque<(ObjectId, String, usize)> =
            roots.into_iter().filter_map(|(id, name)| Some((id?, name.to_string(), 0))).collect();
        let mut looked_at = 0;
        while let Some((object, name, depth)) = queue.pop_front() {
            if names.contains_key(&object) {
                continue;
            }
            let prefix = if depth == 0 { String::new() } else { format!("{name} ") };
            names.insert(object, if name.is_empty() { "Core".into() } else { name });
            looked_at += 1;
            if depth == DEPTH_MAX || looked_at > LOOKED_AT_MAX {
                continue;
            }
            let Ok(Some(creation)) = store.read(object) else { continue };
            queue.extend(creation.slots.iter().filter_map(|(slot, value)| match value {
                Datum::Object(id) => Some((*id, format!("{prefix}{slot}"), depth + 1)),
                _ => None,
            }));
        }
        LiveNames { store, names }
    }

    pub fn into_names(self) -> BTreeMap<ObjectId, String> {
        self.names
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
        self.names.get(&object).cloned()
    }

    fn before(&self, object: ObjectId, field: &Field) -> Option<Datum> {
        Some(self.store.read(object).ok()??.field(field))
    }

    fn run_before(&self, object: ObjectId, line: Line) -> Option<Run> {
        let creation = self.store.read(object).ok()??;
        let draft = object::change::Draft::from(creation);
        Some(draft.elements(line, 0, draft.len(line)))
    }
}
