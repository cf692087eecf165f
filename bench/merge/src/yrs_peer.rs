//! yrs: one document, a map for each object, the second update encoding since the fork's state vector.

use crate::work::{Measured, Set, Work, timed};
use yrs::updates::decoder::Decode;
use yrs::{Doc, Map, MapPrelim, MapRef, ReadTxn, Transact, Update};

fn set_all(document: &Doc, objects: &[MapRef], names: &[String], sets: &[Set]) {
    let mut transaction = document.transact_mut();
    for set in sets {
        objects[set.object].insert(&mut transaction, names[set.slot].as_str(), set.value);
    }
}

/// A copy of the document: yrs has no other fork.
fn fork(document: &Doc) -> Doc {
    let bytes = document.transact().encode_state_as_update_v2(&yrs::StateVector::default());
    let copy = Doc::new();
    let update = Update::decode_v2(&bytes).expect("it was just written");
    copy.transact_mut().apply_update(update).expect("it was just written");
    copy
}

pub fn run(work: &Work) -> Measured {
    let mut measured = Measured::default();
    let document = Doc::new();
    let root = document.get_or_insert_map("root");
    let maps: Vec<MapRef> = {
        let mut transaction = document.transact_mut();
        let mut object = |number: usize| root.insert(&mut transaction, number.to_string(), MapPrelim::default());
        (0..work.sizes.objects).map(&mut object).collect()
    };
    (measured.sets_ms, _) = timed(|| set_all(&document, &maps, &work.names, &work.sets));
    let merge = |sides: &[Vec<Set>; 2]| {
        let (fork_ms, fork) = timed(|| fork(&document));
        let root = fork.get_or_insert_map("root");
        let version = fork.transact().state_vector();
        let forked: Vec<MapRef> = {
            let transaction = fork.transact();
            let object = |number: usize| root.get(&transaction, &number.to_string())?.cast::<MapRef>().ok();
            (0..work.sizes.objects).map(|number| object(number).expect("the map is there")).collect()
        };
        set_all(&document, &maps, &work.names, &sides[0]);
        set_all(&fork, &forked, &work.names, &sides[1]);
        let bytes = fork.transact().encode_state_as_update_v2(&version);
        let (time, _) = timed(|| {
            let update = Update::decode_v2(&bytes).expect("it was just written");
            document.transact_mut().apply_update(update).expect("it was just written");
        });
        (fork_ms, time, bytes.len() as f64 / sides[1].len() as f64)
    };
    (measured.fork_ms, measured.merge_few_ms, measured.few_bytes) = merge(&work.few);
    (_, measured.merge_many_ms, measured.many_bytes) = merge(&work.many);
    measured
}
