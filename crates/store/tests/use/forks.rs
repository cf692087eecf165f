//! A copy of the process goes on with the store: it sees what was there, and reaches nothing that is live.

use crate::lab::Lab;
use object::change::*;
use std::io::{Read, Write};
use store::*;
use system::clone::{leave, wait};

/// Lets a copy of this process do something with the store, and returns what it says when it has ended. `meanwhile` goes on here.
fn in_a_copy(
    lab: &mut Lab,
    act: impl FnOnce(&Store) -> String,
    meanwhile: impl FnOnce(&mut Lab),
) -> (String, ForkPoint) {
    let actor = lab.store().mint_actor().unwrap();
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let (mut go_reader, mut go) = std::io::pipe().unwrap();
    let (branched, point) = lab.store().fork(actor).unwrap();
    match branched {
        Branched::Copy => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _ = go_reader.read(&mut [0]);
                act(lab.store())
            }));
            let _ = writer.write_all(done.unwrap_or_else(|_| "it panicked".into()).as_bytes());
            leave(0)
        }
        Branched::Live { child, pin } => {
            drop(writer);
            meanwhile(lab);
            go.write_all(b"g").unwrap();
            let mut said = String::new();
            reader.read_to_string(&mut said).unwrap();
            assert_eq!(wait(child, true).unwrap().unwrap().status, 0);
            drop(pin);
            (said, point)
        }
    }
}

#[test]
fn a_copy_sees_the_moment_of_its_making_whatever_is_done_to_the_file_later() {
    let mut lab = Lab::new();
    let in_image = lab.create(&[("x", 1.0)]);
    lab.store().checkpoint().unwrap();
    let pending = lab.create(&[("x", 2.0)]);
    lab.set(in_image, "y", 3.0);
    let read = |store: &Store| {
        let slots = |object| store.read(object).unwrap().map(|creation| creation.slots.len());
        let x = |object| store.read(object).unwrap().unwrap().field(&Field::Slot("x".into()));
        format!("{:?} {:?} {:?} {:?}", slots(in_image), slots(pending), x(in_image), x(pending))
    };
    let before = read(lab.store());
    let busy = |lab: &mut Lab| {
        for round in 0..50 {
            lab.set(in_image, "x", f64::from(round));
            lab.create(&[("filler", 1.0)]);
            lab.set(pending, "x", f64::from(round));
            lab.store().checkpoint().unwrap();
        }
    };
    let (said, point) = in_a_copy(&mut lab, read, busy);
    assert_eq!(said, before);
    assert_eq!(point.commit, 3);
    assert_eq!(lab.slot(pending, "x"), Datum::number(49.0));
}

#[test]
fn what_a_copy_commits_is_its_own_and_comes_out_as_its_journal() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    let commit = |store: &Store| {
        let next = store.next_change();
        let changes = vec![
            Change::create(next, Time(9), Creation::default()),
            Change::new(ChangeId::new(next.actor, next.seq + 1), Time(9), object, Operation::set_slot("x", 5.0)),
        ];
        let ticket = store.commit(NewCommit { changes, cause: "to see".into(), ..NewCommit::default() }).unwrap();
        store.wait(ticket).unwrap();
        assert_eq!(store.read(object).unwrap().unwrap().field(&Field::Slot("x".into())), Datum::number(5.0));
        let journal = store.take_journal();
        assert!(store.take_journal().is_empty());
        format!("{} {} {:?}", next, journal.len(), store.actor())
    };
    let (said, point) = in_a_copy(&mut lab, commit, |lab| lab.set(object, "x", 2.0));
    assert_eq!(said, format!("{} 1 {:?}", ChangeId::new(point.actor, 1), point.actor));
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
    lab.reopen();
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
    assert_eq!(lab.store().status().unwrap().last_commit, 2);
}

/// The mapping that writes is the live process's alone; the one that a copy reads can never be made writable.
#[test]
fn a_copy_has_no_mapping_that_it_could_write_the_files_through() {
    let mut lab = Lab::new();
    lab.create(&[("x", 1.0)]);
    // Other tests have stores of their own in this process.
    let directory = lab.path().to_string_lossy().into_owned();
    let maps = |_: &Store| {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut shared = Vec::new();
        let mut current = "";
        for line in maps.lines() {
            if line.contains(&directory) {
                current = line;
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| !current.is_empty()) {
                // "mw": may be made writable; "sh": written through to the file.
                let may_write = flags.split_whitespace().any(|flag| flag == "mw" || flag == "wr");
                shared.push(format!("{} {may_write}", current.rsplit('/').next().unwrap()));
                current = "";
            }
        }
        shared.join(", ")
    };
    let (said, _) = in_a_copy(&mut lab, maps, |_| {});
    assert_eq!(said, "telos.img false");
}
