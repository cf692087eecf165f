//! Random commits against a plain map, with checkpoints, reopening, backups and history in between.

use crate::world::{Things, World, assert_holds, thing};
use crate::{assert_clean, cases, options, seed};
use object::change::{Creation, Draft, Operation};
use store::{NewCommit, Store};

#[test]
fn a_store_holds_what_a_plain_map_holds() {
    let seed = seed("model");
    for case in 0..cases(12, 500) as u64 {
        run(seed.wrapping_mul(1_000_003).wrapping_add(case));
    }
}

fn run(seed: u64) {
    let when = format!("seed {seed}");
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::create(directory.path(), options()).unwrap();
    let mut world = World::new(seed);
    let mut past = vec![Things::new()];
    for _ in 0..120 {
        let ticket = store.commit(world.commit()).unwrap();
        past.push(world.things.clone());
        if world.random.chance(60) {
            store.wait(ticket).unwrap();
        }
        match world.random.below(20) {
            0 | 1 => store.checkpoint().unwrap(),
            2 => {
                store.close().unwrap();
                store = Store::open(directory.path(), options()).unwrap();
                assert_holds(&store, &world.things, &when);
            }
            3 => assert_holds(&store, &world.things, &when),
            4 => backup(&store, &world.things, &when),
            _ => {}
        }
        if store.status().unwrap().pending_bytes > 40_000 {
            store.checkpoint().unwrap();
        }
    }
    assert_clean(&store, &when);
    assert_eq!(store.history().count(), 120, "{when}");
    take_back(&mut store, &past, &when);
}

fn backup(store: &Store, things: &Things, when: &str) {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    assert_eq!(store.backup(&copy).unwrap(), store.last_commit(), "{when}");
    let copy = Store::open(&copy, options()).unwrap();
    assert_eq!(copy.id(), store.id());
    assert_holds(&copy, things, when);
    assert_clean(&copy, when);
}

/// Going back through the history with each commit's inverse finds every state that there was.
fn take_back(store: &mut Store, past: &[Things], when: &str) {
    let objects: Vec<_> = past[past.len() - 1].keys().copied().collect();
    let read = |object| (object, Draft::from(store.read(object).unwrap().unwrap()));
    let mut drafts: std::collections::BTreeMap<_, _> = objects.into_iter().map(read).collect();
    for commit in store.history() {
        let commit = commit.unwrap();
        for change in &commit.inverse {
            drafts.get_mut(&change.object).unwrap().apply(&change.operation).unwrap();
        }
        for change in commit.changes.iter().filter(|change| matches!(change.operation, Operation::Create(_))) {
            drafts.remove(&change.object);
        }
        let found: Things =
            drafts.iter().map(|(object, draft)| (*object, thing(&Creation::from(draft.clone())))).collect();
        assert_eq!(found, past[commit.number as usize - 1], "{when}: before commit {}", commit.number);
    }
}

#[test]
fn an_empty_commit_is_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), options()).unwrap();
    let ticket = store.commit(NewCommit { cause: "nothing".into(), ..NewCommit::default() }).unwrap();
    store.wait(ticket).unwrap();
    store.checkpoint().unwrap();
    assert_eq!(store.history().next().unwrap().unwrap().cause, "nothing");
}
