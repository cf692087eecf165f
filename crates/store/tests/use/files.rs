//! The files of a store as somebody finds them beside it: what is left of earlier attempts, who may read them, and copies.

use crate::lab::Lab;
use object::change::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use store::*;

const UNFINISHED: &str = "telos.wal.new";

/// What a process leaves that was killed while it made a store or a backup.
fn leave_behind(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join(UNFINISHED), vec![7; 20_000]).unwrap();
    std::fs::write(directory.join(IMAGE), vec![8; 70_000]).unwrap();
}

/// The story: the leftovers were never replaced, and every later attempt failed with "file exists".
#[test]
fn what_an_interrupted_creation_or_backup_left_is_replaced() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    let parent = tempfile::tempdir().unwrap();
    let (made, copied) = (parent.path().join("made"), parent.path().join("copied"));
    leave_behind(&made);
    let store = Store::create(&made, Lab::options()).unwrap();
    assert_eq!(store.last_commit(), 0);
    assert!(store.check(&mut |_| {}).unwrap().is_clean() && !made.join(UNFINISHED).exists());
    leave_behind(&copied);
    assert_eq!(lab.store().backup(&copied).unwrap(), 1);
    let copy = Store::open(&copied, Lab::options()).unwrap();
    assert!(copy.read(object).unwrap().is_some() && !copied.join(UNFINISHED).exists());
    assert!(copy.check(&mut |_| {}).unwrap().is_clean());
}

#[test]
fn an_image_that_lost_its_log_is_not_overwritten_by_a_backup() {
    let lab = Lab::new();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(IMAGE), "somebody's").unwrap();
    let refused = lab.store().backup(directory.path()).unwrap_err();
    assert!(matches!(refused, StoreError::LogLost(_)), "{refused}");
    assert_eq!(std::fs::read(directory.path().join(IMAGE)).unwrap(), b"somebody's");
    let refused = lab.store().backup(lab.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Exists(_)), "{refused}");
}

/// The story: such a frame was taken for a torn tail, and written over.
#[test]
fn a_frame_that_a_newer_program_wrote_is_refused_and_kept() {
    let mut lab = Lab::new();
    lab.create(&[]);
    // As a crash leaves it: nothing but the frame itself says that it was flushed.
    let read = |name| std::fs::read(lab.path().join(name)).unwrap();
    let (log, image) = (read(LOG), read(IMAGE));
    let seed = xxhash_rust::xxh3::xxh3_64(&lab.store().id());
    let frame = 8192;
    for (at, number, told) in [(4, 2, "has format 2, newer than the 1"), (5, 9, "is of kind 9, which format 1")] {
        let mut log = log.clone();
        log[frame + at] = number;
        let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&log[frame..frame + 48], seed);
        log[frame + 48..frame + 56].copy_from_slice(&sum.to_le_bytes());
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(LOG), &log).unwrap();
        std::fs::write(directory.path().join(IMAGE), &image).unwrap();
        let refused = Store::open(directory.path(), Lab::options()).err().expect("it is not understood").to_string();
        assert!(refused.contains(told) && refused.contains(LOG), "{refused}");
        assert!(std::fs::read(directory.path().join(LOG)).unwrap() == log, "nothing was written over");
    }
}

#[test]
fn an_image_and_its_backup_are_their_owners_alone() {
    let parent = tempfile::tempdir().unwrap();
    let (made, copied) = (parent.path().join("a/made"), parent.path().join("b/copied"));
    // Also what an attempt of an older program left with another mode.
    leave_behind(&copied);
    let store = Store::create(&made, Lab::options()).unwrap();
    store.backup(&copied).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&made), mode(&parent.path().join("a"))), (0o700, 0o700));
    for directory in [&made, &copied] {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}

/// The story: the checkpoint waited for the copy, and a busy image with a full log refused commits.
#[test]
fn a_backup_is_of_one_moment_while_the_log_goes_round_many_times() {
    let mut lab = Lab::new();
    let objects: Vec<_> = (0..200).map(|number| lab.create(&[("x", f64::from(number))])).collect();
    lab.store().checkpoint().unwrap();
    lab.set(objects[7], "x", -7.0);
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("copy");
    let backup = lab.store().begin_backup(&path).unwrap();
    let text = "x".repeat(10_000);
    let before = lab.store().last_commit();
    let mut bytes = 0;
    for round in 0.. {
        let object = objects[round % objects.len()];
        let change = Change::new(lab.store().next_change(), Time(1), object, Operation::set_slot("x", text.as_str()));
        bytes += text.len() as u64;
        let ticket = lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap();
        lab.store().wait(ticket).unwrap();
        if round % 5 == 0 {
            lab.store().checkpoint().unwrap();
        }
        if bytes > 20 * Lab::options().log_bytes {
            break;
        }
    }
    assert_eq!(backup.finish().unwrap(), before);
    let copy = Store::open(&path, Lab::options()).unwrap();
    assert_eq!(copy.last_commit(), before);
    for (number, object) in objects.iter().enumerate() {
        let expected = if number == 7 { -7.0 } else { number as f64 };
        let found = copy.read(*object).unwrap().unwrap().field(&Field::Slot("x".into()));
        assert_eq!(found, Datum::number(expected));
    }
    let report = copy.check(&mut |_| {}).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert!(lab.store().check(&mut |_| {}).unwrap().is_clean());
}
