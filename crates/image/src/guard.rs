//! What nothing writes to unless a person allows it. Looked at where a commit is made, by whatever way it came: then everything is
//! known that would change, and nothing has.
//!
//! Knows neither tokens nor why something is held: whoever owns the image says what is held and by what name, and with each commit
//! whether a person allows it.

use crate::error::ImageError;
use object::change::{Change, Field, ObjectId, Operation, Text};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::rc::Rc;
use store::Store;

#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whole objects, each with the name of the lock that holds it.
    objects: FxHashMap<ObjectId, Rc<str>>,
    /// Single slots of others.
    slots: FxHashMap<ObjectId, Vec<(Text, Rc<str>)>>,
    /// Everything, by this name.
    whole: Option<Rc<str>>,
    sought: Option<Rc<Sought>>,
}

/// Objects, each with a name.
pub type Named = FxHashMap<ObjectId, Rc<str>>;

/// Whole objects that are looked for when something might be one of them: to find thousands takes longer than to open an image.
#[derive(Debug)]
struct Sought {
    find: fn(&Store) -> Result<Named, String>,
    /// None of them for certain.
    free: Vec<ObjectId>,
    found: OnceCell<Result<Named, String>>,
}

impl Sought {
    fn holder(&self, store: &Store, object: ObjectId) -> Option<&str> {
        if self.free.contains(&object) {
            return None;
        }
        match self.found.get_or_init(|| (self.find)(store)) {
            Ok(found) => found.get(&object).map(|name| &**name),
            // Nobody knows what is held.
            Err(problem) => Some(problem),
        }
    }
}

impl Guard {
    /// Holds an object; the first name stays.
    pub fn hold(&mut self, object: ObjectId, name: &Rc<str>) {
        self.objects.entry(object).or_insert_with(|| name.clone());
    }

    pub fn hold_slot(&mut self, object: ObjectId, slot: Text, name: &Rc<str>) {
        self.slots.entry(object).or_default().push((slot, name.clone()));
    }

    pub fn hold_all(&mut self, name: &Rc<str>) {
        self.whole = Some(name.clone());
    }

    /// Holds objects too that `find` finds in the store, when it matters: the same ones until another guard is set. `free` are none of
    /// them.
    pub fn seek(&mut self, find: fn(&Store) -> Result<Named, String>, free: Vec<ObjectId>) {
        self.sought = Some(Rc::new(Sought { find, free, found: OnceCell::new() }));
    }

    pub fn is_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether an object is held, with all of its slots.
    pub fn holds(&self, object: ObjectId) -> bool {
        self.objects.contains_key(&object)
    }

    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.objects.keys().copied()
    }

    /// The name of what holds this change back.
    pub fn holder(&self, store: &Store, change: &Change) -> Option<&str> {
        let whole = self.whole.as_deref();
        // A call changes nothing, and of what is made nobody has known.
        if whole.is_none() && matches!(change.operation, Operation::Call { .. } | Operation::Create(_)) {
            return None;
        }
        let slot = || match &change.operation {
            Operation::Put { field: Field::Slot(name), .. } => Some(name),
            _ => None,
        };
        let of_slot = || {
            let held = self.slots.get(&change.object)?;
            let slot = slot()?;
            held.iter().find(|(each, _)| each == slot).map(|(_, name)| &**name)
        };
        let of_sought = || self.sought.as_ref().and_then(|sought| sought.holder(store, change.object));
        let of_object = || self.objects.get(&change.object).map(|name| &**name);
        whole.or_else(of_object).or_else(of_slot).or_else(of_sought)
    }

    /// Fails if somebody must allow these changes and nobody does.
    pub(crate) fn check(&self, store: &Store, changes: &[Change], is_allowed: bool) -> Result<(), ImageError> {
        let is_idle = self.objects.is_empty() && self.slots.is_empty() && self.whole.is_none() && self.sought.is_none();
        if is_allowed || is_idle {
            return Ok(());
        }
        match changes.iter().find_map(|change| self.holder(store, change)) {
            Some(name) => Err(ImageError::Locked(name.into())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::change::{ActorId, ChangeId, Datum, Time};
    use store::Options;

    fn object(number: u64) -> ObjectId {
        ObjectId::minted(ChangeId::new(ActorId(1), number))
    }

    fn set(number: u64, slot: &str) -> Change {
        let operation = Operation::Put { field: Field::Slot(Text::from(slot)), value: Datum::Nil };
        Change::new(ChangeId::new(ActorId(1), 100), Time::from_ms(1), object(number), operation)
    }

    #[test]
    fn objects_and_slots_are_held_and_nothing_else() {
        let place = tempfile::tempdir().expect("there is a place for temporary files");
        let store = Store::create(&place.path().join("image"), Options::default()).expect("it is made");
        let (mut guard, garden, gate) = (Guard::default(), Rc::from("Garden"), Rc::from("the gate"));
        assert!(guard.check(&store, &[set(1, "size")], false).is_ok(), "nothing is held");
        guard.hold(object(1), &garden);
        guard.hold(object(1), &gate);
        guard.hold_slot(object(2), Text::from("gate"), &gate);
        assert_eq!(guard.holder(&store, &set(1, "size")), Some("Garden"));
        assert_eq!(guard.holder(&store, &set(2, "gate")), Some("the gate"));
        assert_eq!(guard.holder(&store, &set(2, "size")), None);
        assert_eq!(guard.holder(&store, &set(3, "gate")), None);
        let refused = guard.check(&store, &[set(3, "size"), set(2, "gate")], false).unwrap_err();
        assert!(refused.to_string().starts_with("the gate is locked"), "{refused}");
        assert!(guard.check(&store, &[set(2, "gate")], true).is_ok());
        guard.seek(|_| Ok(Named::from_iter([(object(4), Rc::from("what was found"))])), vec![object(5)]);
        assert_eq!(guard.holder(&store, &set(4, "size")), Some("what was found"));
        assert_eq!((guard.holder(&store, &set(5, "size")), guard.holder(&store, &set(6, "size"))), (None, None));
        assert_eq!(guard.holder(&store, &set(1, "size")), Some("Garden"));
        guard.seek(|_| Err("what nobody can read".into()), vec![object(5)]);
        assert!(guard.check(&store, &[set(5, "size")], false).is_ok());
        assert!(guard.check(&store, &[set(6, "size")], false).is_err(), "nobody knows whether it is held");
        guard.hold_all(&garden);
        assert!(guard.check(&store, &[set(3, "size")], false).is_err() && guard.is_whole());
    }
}
