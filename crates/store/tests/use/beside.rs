//! What goes on beside each other: a check beside commits and checkpoints, and callers that share one flush.

use crate::lab::Lab;
use object::change::*;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use store::*;
use system::disk::{Disk, FileDisk};

/// The story: a checkpoint freed the room of frames that the check was about to read, and commits led old objects to new
/// ones, which it took for missing.
#[test]
fn a_check_finds_nothing_wrong_while_the_log_goes_round() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    lab.store().checkpoint().unwrap();
    lab.set(object, "x", 2.0);
    // Both ends: with what is pending in the image by then, and with more of it in the log.
    for is_applied in [true, false] {
        let check = lab.store().begin_check().unwrap();
        let text = "x".repeat(10_000);
        let commit = |operation: Operation| {
            let change = Change::new(lab.store().next_change(), Time(1), object, operation);
            let ticket = lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap();
            lab.store().wait(ticket).unwrap();
        };
        let change = Change::create(lab.store().next_change(), Time(1), Creation::default());
        let born = change.object;
        lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap();
        commit(Operation::Put { field: Field::Slot("born".into()), value: Datum::Object(born) });
        for round in 0..100 {
            commit(Operation::set_slot("text", text.as_str()));
            if is_applied && round % 5 == 0 {
                lab.store().checkpoint().unwrap();
            }
            if !is_applied && round == 4 {
                break;
            }
        }
        let report = check.run(&mut |_| {}).unwrap();
        assert!(report.is_clean() && report.frames > 0, "{report:?}");
    }
}

/// A file whose flushes can be made to wait.
struct Gate {
    file: FileDisk,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    is_shut: bool,
    is_waited_at: bool,
}

#[derive(Clone)]
struct GatedDisk(Arc<Gate>);

impl GatedDisk {
    fn shut(&self, is_shut: bool) {
        self.0.state.lock().unwrap().is_shut = is_shut;
        self.0.changed.notify_all();
    }

    fn await_somebody(&self) {
        let state = self.0.state.lock().unwrap();
        drop(self.0.changed.wait_while(state, |state| !state.is_waited_at).unwrap());
    }
}

impl Disk for GatedDisk {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.file.write_at(offset, bytes)
    }

    fn flush(&self) -> io::Result<()> {
        let mut state = self.0.state.lock().unwrap();
        state.is_waited_at = state.is_shut;
        self.0.changed.notify_all();
        drop(self.0.changed.wait_while(state, |state| state.is_shut).unwrap());
        self.0.file.flush()
    }

    fn len(&self) -> io::Result<u64> {
        self.0.file.len()
    }
}

/// The story: the second caller got an actor of a note that was still on its way to the disk; after a crash it would have been
/// given out again.
#[test]
fn nobody_gets_an_actor_whose_note_is_not_flushed() {
    let mut lab = Lab::new();
    lab.create(&[]);
    lab.close();
    let open = |name| FileDisk::open(&lab.path().join(name), true).unwrap();
    let gate = Gate { file: open(LOG), state: Mutex::default(), changed: Condvar::new() };
    let disk = GatedDisk(Arc::new(gate));
    let disks = Disks { log: Box::new(disk.clone()), image: Box::new(open(IMAGE)) };
    let store = Store::open_on(lab.path(), Lab::options(), disks).unwrap();
    let (is_open, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
    disk.shut(true);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| store.mint_actor().unwrap());
        disk.await_somebody();
        let second = scope.spawn(|| {
            has_begun.store(true, Ordering::SeqCst);
            let actor = store.mint_actor().unwrap();
            assert!(is_open.load(Ordering::SeqCst), "{actor:?} was given out too early");
            actor
        });
        while !has_begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        // Time for a wrong answer; the right one needs none.
        (0..1000).for_each(|_| std::thread::yield_now());
        is_open.store(true, Ordering::SeqCst);
        disk.shut(false);
        assert!(first.join().unwrap() != second.join().unwrap());
    });
}
