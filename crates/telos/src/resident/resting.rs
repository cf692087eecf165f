//! What a verdict rests on, in words: of all objects that a unit read some, those first that programs made.

use super::names::Ways;
use super::protection::Protected;
use image::ReadSet;
use object::change::ObjectId;
use std::collections::BTreeMap;

/// So many are told of one unit; how many there are is told beside them.
const TOLD_MAX: usize = 16;

pub struct Resting {
    pub ways: Ways,
    /// What the dream calls objects, which goes before.
    pub names: BTreeMap<ObjectId, String>,
}

impl Resting {
    /// Their names, or their numbers where no name is known.
    pub fn on(&self, reads: &ReadSet, protected: &Protected) -> Vec<String> {
        let (mut named, mut others, mut protecteds) = (Vec::new(), Vec::new(), Vec::new());
        for object in reads.objects() {
            match self.has_name(object) {
                _ if protected.is_protected(object) => protecteds.push(object),
                true => named.push(object),
                false => others.push(object),
            }
        }
        if named.len() + others.len() < TOLD_MAX {
            protecteds.sort_by_key(|object| !self.has_name(*object));
        }
        let told = named.into_iter().chain(others).chain(protecteds).take(TOLD_MAX);
        told.map(|object| self.name(object)).collect()
    }

    fn has_name(&self, object: ObjectId) -> bool {
        self.ways.lead_to(object) || self.names.contains_key(&object)
    }

    pub fn name(&self, object: ObjectId) -> String {
        let name = self.names.get(&object).cloned().or_else(|| self.ways.name(object));
        name.unwrap_or_else(|| format!("object {object}"))
    }
}
