//! The least image that a ledger can stand on: objects in a table. For tests and measurements, and as an example of what
//! an image has to answer and to apply.

use crate::rest::{Presence, Rest};
use crate::settle::{Effect, Outcome};
use object::change::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub struct Image {
    objects: FxHashMap<ObjectId, Draft>,
    /// Not reachable any more, and kept only for open forks.
    kept: BTreeSet<ObjectId>,
}

impl Image {
    pub fn get(&self, object: ObjectId) -> Option<&Draft> {
        self.objects.get(&object)
    }

    /// Gives up an object that open forks may still refer to.
    pub fn keep(&mut self, object: ObjectId) {
        self.kept.insert(object);
    }

    /// All objects, whole, with whatever has no order of its own sorted: two images are the same if these are.
    pub fn objects(&self) -> BTreeMap<ObjectId, Creation> {
        self.objects.iter().map(|(object, draft)| (*object, sorted(draft.clone().into()))).collect()
    }

    /// Does what the live image's own changes say.
    pub fn commit(&mut self, changes: &[Change]) -> Result<(), ChangeError> {
        changes.iter().try_for_each(|change| self.apply(change.object, &change.operation))
    }

    /// Does what a merge asks for.
    pub fn take(&mut self, outcome: &Outcome) -> Result<(), ChangeError> {
        for object in &outcome.revived {
            self.kept.remove(object);
        }
        outcome.effects.iter().try_for_each(|Effect { object, operation }| self.apply(*object, operation))
    }

    pub fn apply(&mut self, object: ObjectId, operation: &Operation) -> Result<(), ChangeError> {
        if let Operation::Create(creation) = operation {
            let before = self.objects.insert(object, Draft::from((**creation).clone()));
            return if before.is_none() { Ok(()) } else { Err(ChangeError::Existing) };
        }
        let draft = self.objects.get_mut(&object).ok_or(ChangeError::Mismatch("anything: it does not exist"))?;
        draft.apply(operation).map(drop)
    }
}

fn sorted(mut creation: Creation) -> Creation {
    creation.slots.sort();
    match &mut creation.body {
        Body::Map(entries) => entries.sort(),
        Body::Counters(counters) => counters.sort(),
        Body::Members(members) => members.sort(),
        Body::Elements(Run::Units { width, bytes }) if bytes.is_empty() => *width = 1,
        _ => {}
    }
    creation
}

impl Rest for Image {
    fn presence(&self, object: ObjectId) -> Presence {
        match self.objects.contains_key(&object) {
            false => Presence::Never,
            true if self.kept.contains(&object) => Presence::Kept,
            true => Presence::Live,
        }
    }

    fn form(&self, object: ObjectId) -> Form {
        self.get(object).map_or(Form::Plain, Draft::form)
    }

    fn field(&self, object: ObjectId, field: &Field) -> Datum {
        self.get(object).map_or(Datum::Absent, |draft| draft.field(field))
    }

    fn length(&self, object: ObjectId, line: Line) -> u64 {
        self.get(object).map_or(0, |draft| draft.len(line))
    }

    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run {
        self.get(object).map_or(Run::items([]), |draft| draft.elements(line, index, count))
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        self.get(object).map_or(0, |draft| draft.occurrences(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The image of one object with this body, to which the same is done in one order and in the other.
    fn both_ways(body: Body, operations: [Operation; 2]) -> [BTreeMap<ObjectId, Creation>; 2] {
        let object = ObjectId::minted(ChangeId::new(ActorId(1), 1));
        let mut images = [(); 2].map(|()| Image::default());
        let [one, other] = &operations;
        for (image, operations) in images.iter_mut().zip([[one, other], [other, one]]) {
            let creation = Creation { body: body.clone(), ..Creation::default() };
            image.apply(object, &Operation::Create(Box::new(creation))).expect("it is new");
            operations.into_iter().for_each(|operation| image.apply(object, operation).expect("it fits"));
        }
        images.map(|image| image.objects())
    }

    /// Else two images that are the same are not known for it.
    #[test]
    fn what_has_no_order_of_its_own_is_the_same_in_every_order() {
        let keys = ["k", "l"].map(Datum::text);
        let puts = keys.clone().map(|key| Operation::Put { field: Field::Entry(key), value: Datum::Nil });
        let counts = keys.clone().map(|key| Operation::Count { key, delta: 1 });
        let members = keys.map(|member| Operation::Add { member, count: 1 });
        let slots = ["k", "l"].map(|name| Operation::set_slot(name, 1.0));
        for (body, operations) in [
            (Body::Map(Vec::new()), puts),
            (Body::Counters(Vec::new()), counts),
            (Body::Members(Vec::new()), members),
            (Body::default(), slots),
        ] {
            let [one, other] = both_ways(body, operations);
            assert_eq!(one, other);
        }
    }

    /// An empty text has whatever width it had before. One that is not empty is another text in another width.
    #[test]
    fn the_width_of_a_text_counts_unless_it_is_empty() {
        let texts = |bytes: &[u8]| {
            [1, 2].map(|width| {
                let body = Body::Elements(Run::Units { width, bytes: bytes.into() });
                sorted(Creation { body, ..Creation::default() })
            })
        };
        let [one, other] = texts(b"");
        assert_eq!(one, other);
        let [one, other] = texts(b"ab");
        assert_ne!(one, other);
    }
}
