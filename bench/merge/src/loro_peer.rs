//! loro: one document, a map for each object, updates since the fork.

use crate::work::{Measured, Set, Work, timed};
use loro::{ExportMode, LoroDoc, LoroMap};

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

pub fn run(work: &Work) -> Measured {
    let mut measured = Measured::default();
    let document = LoroDoc::new();
    let maps = objects(&document, work.sizes.objects);
    document.commit();
    (measured.sets_ms, _) = timed(|| set_all(&document, &maps, &work.names, &work.sets));
    let merge = |sides: &[Vec<Set>; 2]| {
        let (fork_ms, fork) = timed(|| document.fork());
        let version = fork.oplog_vv();
        let forked = objects(&fork, work.sizes.objects);
        set_all(&document, &maps, &work.names, &sides[0]);
        set_all(&fork, &forked, &work.names, &sides[1]);
        let bytes = fork.export(ExportMode::updates(&version)).expect("it can be exported");
        let (time, _) = timed(|| document.import(&bytes).expect("it was just exported"));
        (fork_ms, time, bytes.len() as f64 / sides[1].len() as f64)
    };
    (measured.fork_ms, measured.merge_few_ms, measured.few_bytes) = merge(&work.few);
    (_, measured.merge_many_ms, measured.many_bytes) = merge(&work.many);
    measured
}
