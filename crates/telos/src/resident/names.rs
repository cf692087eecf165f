//! What objects of an image are called, and what they hold, for whoever shows what a dream did to them.

use dream::path::written;
use dream::show::Names;
use object::change::{Creation, Datum, Field, Line, ObjectId, Run};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
    names: BTreeMap<ObjectId, String>,
}

impl<'s> LiveNames<'s> {
    /// Of what is found from Lobby and Core.
    pub fn of(store: &'s Store, roots: &Roots) -> LiveNames<'s> {
        let mut found = Found { store, names: BTreeMap::new(), left: LOOKED_AT_MAX };
        // What is right below Core is called after that, though the Lobby leads there, too.
        found.spread(roots.core, "Core", 1);
        found.spread(roots.lobby, "Lobby", DEPTH_MAX);
        found.spread(roots.core, "Core", CORE_DEPTH_MAX);
        LiveNames { store, names: found.names }
    }

    pub fn into_names(self) -> BTreeMap<ObjectId, String> {
        self.names
    }
}

/// Names that were found by now.
struct Found<'s> {
    store: &'s Store,
    names: BTreeMap<ObjectId, String>,
    /// So many may still be looked into.
    left: usize,
}

impl Found<'_> {
    /// Names what is found from a root, so far from it; what has a name keeps it.
    fn spread(&mut self, root: Option<ObjectId>, name: &str, depth_max: usize) {
        let mut queue: VecDeque<(ObjectId, String, usize)> =
            root.map(|root| (root, String::new(), 0)).into_iter().collect();
        let mut met = BTreeSet::new();
        while let Some((object, path, depth)) = queue.pop_front() {
            if !met.insert(object) {
                continue;
            }
            self.names.entry(object).or_insert_with(|| if depth == 0 { name.into() } else { path.clone() });
            let is_its_own = self.names[&object] == path || depth == 0;
            if depth == depth_max || self.left == 0 || !is_its_own {
                continue;
            }
            self.left -= 1;
            let Ok(Some(creation)) = self.store.read(object) else { continue };
            let prefix = if depth == 0 { String::new() } else { format!("{path} ") };
            queue.extend(creation.slots.iter().filter_map(|(slot, value)| match value {
                Datum::Object(id) => {
                    let slot = written(&image::readable_text(slot.as_bytes()));
                    Some((*id, format!("{prefix}{slot}"), depth + 1))
                }
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
