//! automerge: one document, a map for each object, changes since the fork as its incremental save.

use crate::work::{Measured, Set, Work, timed};
use automerge::transaction::Transactable;
use automerge::{AutoCommit, ObjId, ObjType, ROOT, ReadDoc};

fn set_all(document: &mut AutoCommit, objects: &[ObjId], names: &[String], sets: &[Set]) {
    for set in sets {
        document.put(&objects[set.object], &names[set.slot], set.value).expect("the map is there");
    }
    document.commit();
}

pub fn run(work: &Work) -> Measured {
    let mut measured = Measured::default();
    let mut document = AutoCommit::new();
    let objects: Vec<ObjId> = (0..work.sizes.objects)
        .map(|number| document.put_object(ROOT, number.to_string(), ObjType::Map).expect("the root is there"))
        .collect();
    document.commit();
    (measured.sets_ms, _) = timed(|| set_all(&mut document, &objects, &work.names, &work.sets));
    let mut merge = |sides: &[Vec<Set>; 2]| {
        let (fork_ms, mut fork) = timed(|| document.fork());
        let heads = fork.get_heads();
        set_all(&mut document, &objects, &work.names, &sides[0]);
        set_all(&mut fork, &objects, &work.names, &sides[1]);
        let bytes = fork.save_after(&heads);
        let (time, _) = timed(|| document.load_incremental(&bytes).expect("it was just saved"));
        assert!(document.length(ROOT) == work.sizes.objects);
        (fork_ms, time, bytes.len() as f64 / sides[1].len() as f64)
    };
    (measured.fork_ms, measured.merge_few_ms, measured.few_bytes) = merge(&work.few);
    (_, measured.merge_many_ms, measured.many_bytes) = merge(&work.many);
    measured
}
