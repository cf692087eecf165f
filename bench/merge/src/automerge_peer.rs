//! automerge: one document, a map for each object, changes since the fork as its incremental save.

use crate::work::{Entrant, Set, Work};
use automerge::transaction::Transactable;
use automerge::{AutoCommit, ChangeHash, ObjId, ObjType, ROOT, ReadDoc};

pub struct Automerge {
    document: AutoCommit,
    objects: Vec<ObjId>,
    names: Vec<String>,
}

fn set_all(document: &mut AutoCommit, objects: &[ObjId], names: &[String], sets: &[Set]) {
    for set in sets {
        document.put(&objects[set.object], &names[set.slot], set.value).expect("the map is there");
    }
    document.commit();
}

impl Entrant for Automerge {
    type Fork = (AutoCommit, Vec<ChangeHash>);

    fn new(work: &Work) -> Automerge {
        let mut document = AutoCommit::new();
        let objects = (0..work.sizes.objects)
            .map(|number| document.put_object(ROOT, number.to_string(), ObjType::Map).expect("the root is there"))
            .collect();
        document.commit();
        Automerge { document, objects, names: work.names.clone() }
    }

    fn set(&mut self, sets: &[Set]) {
        set_all(&mut self.document, &self.objects, &self.names, sets);
    }

    fn fork(&mut self, _copy: bool) -> Self::Fork {
        let mut fork = self.document.fork();
        let heads = fork.get_heads();
        (fork, heads)
    }

    fn journal(&self, (fork, heads): &mut Self::Fork, sets: &[Set]) -> Vec<u8> {
        set_all(fork, &self.objects, &self.names, sets);
        fork.save_after(heads)
    }

    fn merge(&mut self, _fork: &Self::Fork, journal: &[u8]) {
        self.document.load_incremental(journal).expect("it was just saved");
    }

    fn read(&self, object: usize, slot: usize) -> Option<i64> {
        let found = self.document.get(&self.objects[object], &self.names[slot]).expect("the map is there");
        found.and_then(|(value, _)| value.as_i64())
    }
}
