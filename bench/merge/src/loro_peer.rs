//! loro: one document, a map for each object, updates since the fork.

use crate::work::{Entrant, Set, Work};
use loro::{ExportMode, LoroDoc, LoroMap, VersionVector};

pub struct Loro {
    document: LoroDoc,
    objects: Vec<LoroMap>,
    names: Vec<String>,
}

#[expect(deprecated, reason = "what it is deprecated for, mergeable children, would be slower")]
fn objects(document: &LoroDoc, count: usize) -> Vec<LoroMap> {
    let root = document.get_map("root");
    let object = |number: usize| root.get_or_create_container(&number.to_string(), LoroMap::new());
    (0..count).map(|number| object(number).expect("the root is there")).collect()
}

fn set_all(document: &LoroDoc, objects: &[LoroMap], names: &[String], sets: &[Set]) {
    for set in sets {
        objects[set.object].insert(&names[set.slot], set.value).expect("the map is there");
    }
    document.commit();
}

impl Entrant for Loro {
    type Fork = (LoroDoc, VersionVector);

    fn new(work: &Work) -> Loro {
        let document = LoroDoc::new();
        let objects = objects(&document, work.sizes.objects);
        document.commit();
        Loro { document, objects, names: work.names.clone() }
    }

    fn set(&mut self, sets: &[Set]) {
        set_all(&self.document, &self.objects, &self.names, sets);
    }

    fn fork(&mut self, _copy: bool) -> Self::Fork {
        let fork = self.document.fork();
        let version = fork.oplog_vv();
        (fork, version)
    }

    fn journal(&self, (fork, version): &mut Self::Fork, sets: &[Set]) -> Vec<u8> {
        set_all(fork, &objects(fork, self.objects.len()), &self.names, sets);
        fork.export(ExportMode::updates(version)).expect("it can be exported")
    }

    fn merge(&mut self, _fork: &Self::Fork, journal: &[u8]) {
        self.document.import(journal).expect("it was just exported");
    }

    fn read(&self, object: usize, slot: usize) -> Option<i64> {
        let value = self.objects[object].get(&self.names[slot])?.into_value().ok()?;
        value.as_i64().copied()
    }
}
