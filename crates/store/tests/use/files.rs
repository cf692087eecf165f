//! The files of a store as somebody finds them beside it: what is left of earlier attempts, who may read them, and copies.

use crate::lab::Lab;
use object::change::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use store::*;
use system::file::Unnamed;

/// What a process leaves that was killed while it made a store.
fn leave_half_a_store(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    for name in ["telos.wal.new", "telos.img.new", "telos.img.new-lock"] {
        std::fs::write(directory.join(name), vec![7; 20_000]).unwrap();
    }
}

/// What a process leaves that was killed while it made a backup.
fn leave_half_a_backup(directory: &Path) {
    let place = Unnamed::place_for(directory).unwrap();
    std::fs::create_dir_all(&place).unwrap();
    for name in [LOG, IMAGE, "telos.wal.new"] {
        std::fs::write(place.join(name), vec![8; 70_000]).unwrap();
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The story: the leftovers were never replaced, and every later attempt failed with "file exists".
#[test]
fn what_an_interrupted_creation_or_backup_left_is_replaced() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    let parent = tempfile::tempdir().unwrap();
    let (made, copied) = (parent.path().join("made"), parent.path().join("copied"));
    leave_half_a_store(&made);
    let store = Store::create(&made, Lab::options()).unwrap();
    assert_eq!(store.last_commit(), 0);
    assert!(store.check(&mut |_| {}).unwrap().is_clean());
    assert_eq!(names(&made), ["telos.img", "telos.img-lock", "telos.lock", "telos.wal"]);
    leave_half_a_backup(&copied);
    assert_eq!(lab.store().backup(&copied).unwrap(), 1);
    assert_eq!(names(&copied), ["telos.img", "telos.wal"]);
    assert_eq!(names(parent.path()), ["copied", "made"]);
    let copy = Store::open(&copied, Lab::options()).unwrap();
    assert!(copy.read(object).unwrap().is_some());
    assert!(copy.check(&mut |_| {}).unwrap().is_clean());
}

/// A crash between the two names that a new store gets.
#[test]
fn a_creation_that_lacks_only_the_name_of_the_log_is_finished() {
    let parent = tempfile::tempdir().unwrap();
    let made = parent.path().join("made");
    Store::make(&made, &Lab::options()).unwrap();
    std::fs::rename(made.join(LOG), made.join("telos.wal.new")).unwrap();
    assert_eq!(Store::create(&made, Lab::options()).unwrap().last_commit(), 0);
}

/// The story: a file of that name, whatever was in it, was enough to have the image replaced by an empty one.
#[test]
fn an_image_that_lost_its_log_is_never_replaced() {
    let mut lab = Lab::new();
    lab.create(&[("x", 1.0)]);
    let parent = tempfile::tempdir().unwrap();
    let (lost, other) = (parent.path().join("lost"), parent.path().join("other"));
    lab.store().backup(&lost).unwrap();
    let image = std::fs::read(lost.join(IMAGE)).unwrap();
    let log = std::fs::read(lost.join(LOG)).unwrap();
    Store::make(&other, &Lab::options()).unwrap();
    std::fs::remove_file(lost.join(LOG)).unwrap();
    for left in [vec![], vec![7; 20_000], log, std::fs::read(other.join(LOG)).unwrap()] {
        std::fs::write(lost.join("telos.wal.new"), left).unwrap();
        let refused = Store::create(&lost, Lab::options()).err().expect("it is somebody's");
        assert!(matches!(refused, StoreError::LogLost(_)), "{refused}");
        assert!(std::fs::read(lost.join(IMAGE)).unwrap() == image, "nothing was written over");
    }
}

#[test]
fn the_file_that_is_missing_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let made = parent.path().join("made");
    Store::make(&made, &Lab::options()).unwrap();
    std::fs::remove_file(made.join(IMAGE)).unwrap();
    for open in [Store::open, Store::open_read_only] {
        let refused = open(&made, Lab::options()).err().expect("there is no image").to_string();
        assert!(refused.contains("no image") && refused.contains("restore it from a backup"), "{refused}");
    }
}

// ---- who may open them

/// The story: a second writer got in when `telos.lock` was removed, or when it came through links, and both were
/// acknowledged what the other wrote over.
#[test]
fn there_is_one_writer_whatever_becomes_of_the_lock_and_by_whatever_name() {
    let lab = Lab::new();
    let parent = tempfile::tempdir().unwrap();
    let [soft, hard, mixed] = ["soft", "hard", "mixed"].map(|name| parent.path().join(name));
    for directory in [&soft, &hard, &mixed] {
        std::fs::create_dir(directory).unwrap();
    }
    for name in [LOG, IMAGE] {
        std::os::unix::fs::symlink(lab.path().join(name), soft.join(name)).unwrap();
        std::fs::hard_link(lab.path().join(name), hard.join(name)).unwrap();
    }
    std::fs::copy(lab.path().join(LOG), mixed.join(LOG)).unwrap();
    std::fs::hard_link(lab.path().join(IMAGE), mixed.join(IMAGE)).unwrap();
    std::fs::remove_file(lab.path().join(LOCK)).unwrap();
    for directory in [lab.path(), &soft, &hard, &mixed] {
        for open in [Store::open, Store::open_read_only] {
            let refused = open(directory, Lab::options()).err().expect("somebody writes").to_string();
            assert!(refused.contains(&format!("in use by process {}", std::process::id())), "{refused}");
        }
    }
}

#[test]
fn whoever_reads_keeps_writers_out_and_leaves_no_trace() {
    let lab = Lab::new();
    let parent = tempfile::tempdir().unwrap();
    let copied = parent.path().join("copied");
    lab.store().backup(&copied).unwrap();
    let one = Store::open_read_only(&copied, Lab::options()).unwrap();
    let two = Store::open_read_only(&copied, Lab::options()).unwrap();
    assert_eq!(names(&copied), ["telos.img", "telos.wal"]);
    let refused = Store::open(&copied, Lab::options()).err().expect("somebody reads");
    assert!(matches!(refused, StoreError::System(system::SystemError::Locked { .. })), "{refused}");
    drop((one, two));
    Store::open(&copied, Lab::options()).unwrap();
}

/// The story: half a backup had the name of a whole one, and blocked it.
#[test]
fn a_backup_has_its_name_when_it_is_whole() {
    let lab = Lab::new();
    let parent = tempfile::tempdir().unwrap();
    let copied = parent.path().join("copied");
    let begun = lab.store().begin_backup(&copied).unwrap();
    assert!(!copied.exists());
    let second = lab.store().begin_backup(&copied).err().expect("one at a time").to_string();
    assert!(second.contains("in use by process"), "{second}");
    drop(begun);
    assert_eq!(names(parent.path()), [""; 0]);
    lab.store().backup(&copied).unwrap();
    std::fs::create_dir(parent.path().join("full")).unwrap();
    std::fs::write(parent.path().join("full/letter"), "x").unwrap();
    let refused = lab.store().backup(&parent.path().join("full")).unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty(_)), "{refused}");
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
    leave_half_a_backup(&copied);
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
