//! What a verdict rests on, in words: of all objects that a unit read some, those first that programs made.

use super::protection::Protected;
use image::ReadSet;
use object::change::ObjectId;
use std::collections::BTreeMap;

/// So many are told of one unit; how many there are is told beside them.
const TOLD_MAX: usize = 16;

pub struct Resting {
    pub names: BTreeMap<ObjectId, String>,
}

impl Resting {
    /// Their names, or their numbers where no name is known.
    pub fn on(&self, reads: &ReadSet, protected: &Protected) -> Vec<String> {
        let rank = |object: &ObjectId| (protected.keeps(*object), !self.names.contains_key(object), *object);
        let mut objects: Vec<ObjectId> = reads.objects().collect();
        objects.sort_by_cached_key(rank);
        let told = objects.into_iter().take(TOLD_MAX);
        told.map(|object| self.names.get(&object).cloned().unwrap_or_else(|| format!("object {object}"))).collect()
    }
}
