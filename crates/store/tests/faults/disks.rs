//! Disks that fail or are full, at every position: a clear error, a store that takes nothing more, and everything that was
//! acknowledged there again after opening it on a disk that works.

use crate::world::{Things, World, assert_holds};
use crate::{assert_clean, cases, options, seed, write};
use std::io::ErrorKind;
use std::path::Path;
use store::{Disks, Durability, IMAGE, LOG, Store, StoreError};
use system::disk::FileDisk;
use testkit::Random;
use testkit::crash::{Call, CrashDisk, Fault};

/// What a run came to before it failed.
struct Outcome {
    past: Vec<Things>,
    acknowledged: u64,
    error: Option<StoreError>,
}

#[test]
fn a_failing_disk_is_told_and_loses_nothing() {
    let seed = seed("disks");
    let calls =
        [(Call::Write, ErrorKind::StorageFull), (Call::Write, ErrorKind::Other), (Call::Flush, ErrorKind::Other)];
    let mut failures = 0;
    for case in 0..cases(40, 1000) {
        for (call, kind) in calls {
            let fault = Fault { call, after: case % 80, kind };
            failures += usize::from(fail_log(seed.wrapping_add(case as u64), fault));
        }
    }
    assert!(failures > 60, "only {failures} runs met their fault");
}

/// Tells whether the fault came.
fn fail_log(seed: u64, fault: Fault) -> bool {
    let when = format!("seed {seed}, {fault:?}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    Store::create(path, options()).unwrap().close().unwrap();
    let log = CrashDisk::with_fault(std::fs::read(path.join(LOG)).unwrap(), fault);
    let image = FileDisk::open(&path.join(IMAGE), true).unwrap();
    let disks = Disks { log: Box::new(log.clone()), image: Box::new(image) };
    let store = Store::open_on(path, options(), disks).unwrap();
    let outcome = run(&store, seed);
    if let Some(error) = &outcome.error {
        assert!(log.has_failed(), "{when}: {error}");
        assert_latched(&store, error, &when);
        assert_copied(&store, &outcome, &when);
    }
    drop(store);
    // What was not flushed may be lost or not, as after any crash.
    let content = log.crash(log.events().len(), &mut Random::new(seed));
    write(path, LOG, &content);
    reopen(path, &outcome, &when);
    outcome.error.is_some()
}

/// Makes commits and checkpoints until something fails.
fn run(store: &Store, seed: u64) -> Outcome {
    let mut world = World::new(seed);
    let mut outcome = Outcome { past: vec![Things::new()], acknowledged: 0, error: None };
    for _ in 0..30 {
        if let Err(error) = turn(store, &mut world, &mut outcome) {
            outcome.error = Some(error);
            break;
        }
    }
    outcome
}

fn turn(store: &Store, world: &mut World, outcome: &mut Outcome) -> Result<(), StoreError> {
    let commit = world.commit();
    let is_flushed = commit.durability == Durability::Flush;
    outcome.past.push(world.things.clone());
    let ticket = store.commit(commit)?;
    store.wait(ticket)?;
    if is_flushed {
        outcome.acknowledged = ticket.number;
    }
    if world.random.chance(15) {
        store.checkpoint()?;
        outcome.acknowledged = ticket.number;
    }
    Ok(())
}

/// Commits are refused with the cause, reads go on, and nothing heals by itself.
fn assert_latched(store: &Store, error: &StoreError, when: &str) {
    let refused = store.commit(World::new(1).commit()).unwrap_err();
    assert!(matches!(refused, StoreError::Latched(_)), "{when}: {refused}");
    let cause = store.status().unwrap().failure.unwrap_or_else(|| panic!("{when}: no failure is told"));
    assert!(refused.to_string().contains(&cause) && cause.contains("telos."), "{when}: {refused}, {error}");
    assert!(store.checkpoint().is_err() || store.status().unwrap().pending_commits == 0, "{when}");
    store.history().for_each(|commit| drop(commit.unwrap_or_else(|error| panic!("{when}: {error}"))));
}

/// A store that takes nothing more can still be copied: all that was acknowledged is there.
fn assert_copied(store: &Store, outcome: &Outcome, when: &str) {
    let directory = tempfile::tempdir().unwrap();
    let last = store.backup(directory.path()).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert!(last >= outcome.acknowledged, "{when}: commit {last} is the last of the copy");
    let copy = Store::open(directory.path(), options()).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert_eq!(copy.last_commit(), last, "{when}");
    assert_holds(&copy, &outcome.past[last as usize], when);
    assert_clean(&copy, when);
}

fn reopen(path: &Path, outcome: &Outcome, when: &str) {
    let store = Store::open(path, options()).unwrap_or_else(|error| panic!("{when}: {error}"));
    let last = store.last_commit();
    assert!((outcome.acknowledged..outcome.past.len() as u64).contains(&last), "{when}: commit {last} is the last");
    assert_holds(&store, &outcome.past[last as usize], when);
    assert_clean(&store, when);
    let mut world = World::new(7);
    world.after(&outcome.past[last as usize], &store);
    let ticket = store.commit(world.commit()).unwrap();
    store.wait(ticket).unwrap();
    store.checkpoint().unwrap();
    assert_clean(&store, when);
}

#[test]
fn an_image_that_cannot_be_flushed_latches_and_loses_nothing() {
    let seed = seed("image flush");
    for after in 0..cases(6, 50) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        Store::create(path, options()).unwrap().close().unwrap();
        let before = std::fs::read(path.join(IMAGE)).unwrap();
        let fault = Fault { call: Call::Flush, after: after % 6, kind: ErrorKind::Other };
        let image = CrashDisk::with_fault(before, fault);
        let log = FileDisk::open(&path.join(LOG), true).unwrap();
        let disks = Disks { log: Box::new(log), image: Box::new(image.clone()) };
        let store = Store::open_on(path, options(), disks).unwrap();
        let outcome = run(&store, seed.wrapping_add(after as u64));
        let when = format!("image flush {after}");
        if let Some(error) = &outcome.error {
            assert!(image.has_failed() && error.to_string().contains(IMAGE), "{when}: {error}");
            assert_latched(&store, error, &when);
            assert_copied(&store, &outcome, &when);
        }
        drop(store);
        reopen(path, &outcome, &when);
    }
}

#[test]
fn a_log_that_cannot_be_read_is_told_on_opening() {
    let seed = seed("read");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let store = Store::create(path, options()).unwrap();
    let outcome = run(&store, seed);
    assert!(outcome.error.is_none());
    drop(store);
    let content = std::fs::read(path.join(LOG)).unwrap();
    for after in 0..20 {
        let fault = Fault { call: Call::Read, after, kind: ErrorKind::Other };
        let log = CrashDisk::with_fault(content.clone(), fault);
        let image = FileDisk::open(&path.join(IMAGE), true).unwrap();
        match Store::open_on(path, options(), Disks { log: Box::new(log.clone()), image: Box::new(image) }) {
            Ok(store) => {
                assert!(!log.has_failed());
                assert_eq!(store.last_commit(), 30);
            }
            Err(error) => {
                assert!(error.to_string().contains("cannot read") && error.to_string().contains(LOG), "{error}")
            }
        }
    }
    reopen(path, &outcome, "after failed reads");
}
