//! The image as a merge under way finds it: what is at rest, and the objects that the merge makes.

use crate::rest::Rest;
use crate::values::Values;
use object::change::*;
use std::collections::BTreeMap;

/// The image, and on it the objects that are being made.
pub(crate) struct Fresh<'r, R> {
    pub rest: &'r R,
    pub made: BTreeMap<ObjectId, Creation>,
}

impl<R: Rest> Fresh<'_, R> {
    pub fn field(&self, object: ObjectId, field: &Field) -> Datum {
        let Some(creation) = self.made.get(&object) else { return self.rest.field(object, field) };
        creation.field(field)
    }

    pub fn length(&self, object: ObjectId, line: Line) -> u64 {
        let Some(creation) = self.made.get(&object) else { return self.rest.length(object, line) };
        creation.run(line).len() as u64
    }

    pub fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Values {
        let Some(creation) = self.made.get(&object) else {
            return Values::from(&self.rest.elements(object, line, index, count));
        };
        Values::of(&creation.run(line), index, count)
    }

    pub fn form(&self, object: ObjectId) -> Form {
        self.made.get(&object).map_or_else(|| self.rest.form(object), |creation| creation.body.form())
    }

    pub fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        let Some(creation) = self.made.get(&object) else { return self.rest.occurrences(object, member) };
        creation.occurrences(member)
    }

    /// A new object is in no ring that was there before.
    pub fn is_ring(&self, object: ObjectId, proto: ObjectId) -> bool {
        !self.made.contains_key(&object) && self.rest.is_ring(object, proto)
    }
}
