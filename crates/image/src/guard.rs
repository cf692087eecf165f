//! What nothing writes to unless a person allows it. Looked at where a commit is made, by whatever way it came: then everything is
//! known that would change, and nothing has.
//!
//! Knows neither tokens nor why something is held: whoever owns the image says what is held and by what name, and with each commit
//! whether a person allows it.

use crate::error::ImageError;
use object::change::{Change, Field, ObjectId, Operation, Text};
use rustc_hash::FxHashMap;
use std::rc::Rc;

#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whole objects, each with the name of the lock that holds it. Thousands belong to what judges, and whoever judges has a copy.
    objects: Rc<FxHashMap<ObjectId, Rc<str>>>,
    /// Single slots of others.
    slots: FxHashMap<ObjectId, Vec<(Text, Rc<str>)>>,
    /// Everything, by this name.
    whole: Option<Rc<str>>,
}

impl Guard {
    /// Holds an object; the first name stays.
    pub fn hold(&mut self, object: ObjectId, name: &Rc<str>) {
        Rc::make_mut(&mut self.objects).entry(object).or_insert_with(|| name.clone());
    }

    pub fn hold_slot(&mut self, object: ObjectId, slot: Text, name: &Rc<str>) {
        self.slots.entry(object).or_default().push((slot, name.clone()));
    }

    pub fn hold_all(&mut self, name: &Rc<str>) {
        self.whole = Some(name.clone());
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
    pub fn holder(&self, change: &Change) -> Option<&str> {
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
        whole.or_else(|| self.objects.get(&change.object).map(|name| &**name)).or_else(of_slot)
    }

    /// Fails if somebody must allow these changes and nobody does.
    pub(crate) fn check(&self, changes: &[Change], is_allowed: bool) -> Result<(), ImageError> {
        let is_idle = self.objects.is_empty() && self.slots.is_empty() && self.whole.is_none();
        if is_allowed || is_idle {
            return Ok(());
        }
        match changes.iter().find_map(|change| self.holder(change)) {
            Some(name) => Err(ImageError::Locked(name.into())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::change::{ActorId, ChangeId, Datum, Time};

    fn object(number: u64) -> ObjectId {
        ObjectId::minted(ChangeId::new(ActorId(1), number))
    }

    fn set(number: u64, slot: &str) -> Change {
        let operation = Operation::Put { field: Field::Slot(Text::from(slot)), value: Datum::Nil };
        Change::new(ChangeId::new(ActorId(1), 100), Time::from_ms(1), object(number), operation)
    }

    #[test]
    fn objects_and_slots_are_held_and_nothing_else() {
        let (mut guard, garden, gate) = (Guard::default(), Rc::from("Garden"), Rc::from("the gate"));
        assert!(guard.check(&[set(1, "size")], false).is_ok(), "nothing is held");
        guard.hold(object(1), &garden);
        guard.hold(object(1), &gate);
        guard.hold_slot(object(2), Text::from("gate"), &gate);
        assert_eq!(guard.holder(&set(1, "size")), Some("Garden"));
        assert_eq!(guard.holder(&set(2, "gate")), Some("the gate"));
        assert_eq!(guard.holder(&set(2, "size")), None);
        assert_eq!(guard.holder(&set(3, "gate")), None);
        let refused = guard.check(&[set(3, "size"), set(2, "gate")], false).unwrap_err();
        assert!(refused.to_string().starts_with("the gate is locked"), "{refused}");
        assert!(guard.check(&[set(2, "gate")], true).is_ok());
        guard.hold_all(&garden);
        assert!(guard.check(&[set(3, "size")], false).is_err() && guard.is_whole());
    }
}
