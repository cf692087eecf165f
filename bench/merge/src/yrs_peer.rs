//! yrs: one document, a map for each object, the second update encoding since the fork's state vector.

use crate::work::{Entrant, Set, Work};
use yrs::updates::decoder::Decode;
use yrs::{Doc, Map, MapPrelim, MapRef, ReadTxn, StateVector, Transact, Update};

pub struct Yrs {
    document: Doc,
    objects: Vec<MapRef>,
    names: Vec<String>,
}

fn set_all(document: &Doc, objects: &[MapRef], names: &[String], sets: &[Set]) {
    let mut transaction = document.transact_mut();
    for set in sets {
        objects[set.object].insert(&mut transaction, names[set.slot].as_str(), set.value);
    }
}

fn apply(document: &Doc, bytes: &[u8]) {
    let update = Update::decode_v2(bytes).expect("it was just written");
    document.transact_mut().apply_update(update).expect("it was just written");
}

impl Entrant for Yrs {
    type Fork = (Doc, StateVector);

    fn new(work: &Work) -> Yrs {
        let document = Doc::new();
        let root = document.get_or_insert_map("root");
        let objects = {
            let mut transaction = document.transact_mut();
            let mut object = |number: usize| root.insert(&mut transaction, number.to_string(), MapPrelim::default());
            (0..work.sizes.objects).map(&mut object).collect()
        };
        Yrs { document, objects, names: work.names.clone() }
    }

    fn set(&mut self, sets: &[Set]) {
        set_all(&self.document, &self.objects, &self.names, sets);
    }

    /// A copy of the document: yrs has no other fork.
    fn fork(&mut self, _copy: bool) -> Self::Fork {
        let bytes = self.document.transact().encode_state_as_update_v2(&StateVector::default());
        let fork = Doc::new();
        apply(&fork, &bytes);
        let version = fork.transact().state_vector();
        (fork, version)
    }

    fn journal(&self, (fork, version): &mut Self::Fork, sets: &[Set]) -> Vec<u8> {
        let root = fork.get_or_insert_map("root");
        let forked: Vec<MapRef> = {
            let transaction = fork.transact();
            let object = |number: usize| root.get(&transaction, &number.to_string())?.cast::<MapRef>().ok();
            (0..self.objects.len()).map(|number| object(number).expect("the map is there")).collect()
        };
        set_all(fork, &forked, &self.names, sets);
        fork.transact().encode_state_as_update_v2(version)
    }

    fn merge(&mut self, _fork: &Self::Fork, journal: &[u8]) {
        apply(&self.document, journal);
    }

    fn read(&self, object: usize, slot: usize) -> Option<i64> {
        self.objects[object].get(&self.document.transact(), &self.names[slot])?.cast::<i64>().ok()
    }
}
