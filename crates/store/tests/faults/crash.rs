//! A crash after every single write and flush of either file.
//!
//! The log lies on a disk that remembers. For the image, which LMDB writes itself, the trace holds the file's content at
//! each flush, and where among the log's events that flush was: the store writes the image only between two events of the
//! log, in one transaction, which is flushed before the next event. So a crash in between leaves any mixture of the sectors
//! of two contents that follow each other, and that is what is tried. A flush that were left out would show: the trace
//! counts them.

use crate::world::{Things, World, assert_holds};
use crate::{assert_clean, cases, options, seed, write};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use store::{Disks, Durability, IMAGE, LOG, Store};
use system::disk::{Disk, FileDisk};
use testkit::Random;
use testkit::crash::{CrashDisk, Event, mixture};

/// A run has so many commits, or more until it is worth a crash: what is drawn is mostly enough, but not always.
const COMMITS: usize = 50;
const COMMITS_MOST: usize = 4 * COMMITS;
/// What makes it worth one.
const FLUSHES_LEAST: usize = 21;
const CHECKPOINTS_LEAST: usize = 3;

/// The image's content at each flush, with the number of the log's events before it.
type Copies = Arc<Mutex<Vec<(usize, Vec<u8>)>>>;

/// Stands in for the image's file where the store flushes it.
pub struct ImageDisk {
    file: FileDisk,
    path: PathBuf,
    log: CrashDisk,
    copies: Copies,
}

impl Disk for ImageDisk {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn flush(&self) -> io::Result<()> {
        let content = std::fs::read(&self.path)?;
        self.copies.lock().unwrap().push((self.log.events().len(), content));
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn push(&self, _: Range<u64>) {}
}

/// A run that was recorded from its first commit to its last.
struct Recording {
    log: CrashDisk,
    copies: Vec<(usize, Vec<u8>)>,
    checkpoints: usize,
    /// What the store holds after each commit.
    past: Vec<Things>,
}

/// Notes between the events: which commit is made, and which is acknowledged.
const fn made(number: u64) -> u64 {
    number * 2
}

const fn acknowledged(number: u64) -> u64 {
    number * 2 + 1
}

fn record(seed: u64) -> Recording {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    Store::create(path, options()).unwrap().close().unwrap();
    let log = CrashDisk::new(std::fs::read(path.join(LOG)).unwrap());
    let copies = Copies::default();
    copies.lock().unwrap().push((0, std::fs::read(path.join(IMAGE)).unwrap()));
    let image = ImageDisk {
        file: FileDisk::open(&path.join(IMAGE), false).unwrap(),
        path: path.join(IMAGE),
        log: log.clone(),
        copies: copies.clone(),
    };
    let store = Store::open_on(path, options(), Disks { log: Box::new(log.clone()), image: Box::new(image) }).unwrap();
    let mut world = World::new(seed);
    let mut past = vec![Things::new()];
    let mut checkpoints = 0;
    while past.len() <= COMMITS
        || past.len() <= COMMITS_MOST && (checkpoints < CHECKPOINTS_LEAST || flushes(&log.events()) < FLUSHES_LEAST)
    {
        let commit = world.commit();
        let is_flushed = commit.durability == Durability::Flush;
        past.push(world.things.clone());
        log.note(made(past.len() as u64 - 1));
        let ticket = store.commit(commit).unwrap();
        if world.random.chance(60) {
            store.wait(ticket).unwrap();
            if is_flushed {
                log.note(acknowledged(ticket.number));
            }
        }
        if world.random.chance(15) || store.status().unwrap().pending_bytes > 40_000 {
            store.checkpoint().unwrap();
            checkpoints += 1;
            log.note(acknowledged(store.last_commit()));
        }
    }
    drop(store);
    let copies = copies.lock().unwrap().clone();
    Recording { log, copies, checkpoints, past }
}

fn flushes(events: &[Event]) -> usize {
    events.iter().filter(|event| **event == Event::Flush).count()
}

#[test]
fn a_crash_anywhere_leaves_all_that_was_acknowledged_and_no_part_of_a_commit() {
    let seed = seed("crash");
    for run in 0..cases(1, 200) as u64 {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(run);
        crash_everywhere(seed);
    }
}

/// New frames that were as long as those that had been cut off, and were all applied: then the next frame of the old ones followed them.
#[test]
fn what_was_cut_off_does_not_come_back_behind_frames_of_the_same_length() {
    crash_everywhere(21_000_205);
}

fn crash_everywhere(seed: u64) {
    let recording = record(seed);
    let events = recording.log.events();
    let (flushes, checkpoints) = (flushes(&events), recording.checkpoints);
    assert!(flushes >= FLUSHES_LEAST && checkpoints >= CHECKPOINTS_LEAST, "seed {seed} is worth a crash");
    // Before the first there was one, too.
    assert!(recording.copies.len() > checkpoints, "seed {seed}: the image is flushed at every checkpoint");
    let mut random = Random::new(seed);
    for count in 0..=events.len() {
        crash(&recording, &events[..count], &mut random, &format!("seed {seed}, after {count} events"));
    }
}

/// One crash, with one of the images that it can leave.
fn crash(recording: &Recording, events: &[Event], random: &mut Random, when: &str) {
    let count = events.len();
    let flushed = recording.copies.iter().rposition(|(at, _)| *at < count).unwrap_or(0);
    let image = match recording.copies.get(flushed + 1).filter(|(at, _)| *at == count) {
        // The transaction was handed to the kernel here, and its flush had not returned.
        Some((_, next)) if random.chance(70) => mixture(&[&recording.copies[flushed].1, next], random),
        Some((_, next)) => next.clone(),
        None => recording.copies[flushed].1.clone(),
    };
    let log = recording.log.crash(count, random);
    let note = |wanted: u64| {
        let notes = events.iter().filter_map(|event| if let Event::Note(note) = event { Some(*note) } else { None });
        notes.filter(|note| note % 2 == wanted % 2).map(|note| note / 2).max().unwrap_or(0)
    };
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), LOG, &log);
    write(directory.path(), IMAGE, &image);
    verify(directory.path(), recording, note(acknowledged(0))..note(made(0)) + 1, random, when);
}

/// Opens what the crash left, compares, and goes on working with it.
fn verify(path: &Path, recording: &Recording, allowed: Range<u64>, random: &mut Random, when: &str) {
    let store = Store::open(path, options()).unwrap_or_else(|error| panic!("{when}: {error}"));
    let last = store.last_commit();
    assert!(allowed.contains(&last), "{when}: commit {last} is the last, but {allowed:?} was asked for");
    let things = &recording.past[last as usize];
    assert_holds(&store, things, when);
    assert_clean(&store, when);
    let objects: usize = things.len();
    assert_eq!(store.check(&mut |_| {}).unwrap().objects as usize + born(&store), objects, "{when}");
    let mut world = World::new(random.next());
    world.after(things, &store);
    for _ in 0..3 {
        let ticket = store.commit(world.commit()).unwrap();
        store.wait(ticket).unwrap();
        // More than one: LMDB once forgot the first transaction after a crash, which only the second showed.
        if random.chance(70) {
            store.checkpoint().unwrap_or_else(|error| panic!("{when}: {error}"));
        }
    }
    drop(store);
    let store = Store::open(path, options()).unwrap_or_else(|error| panic!("{when}, again: {error}"));
    assert_eq!(store.last_commit(), last + 3, "{when}");
    assert_holds(&store, &world.things, when);
    assert_clean(&store, when);
}

/// Objects that the image does not hold yet.
fn born(store: &Store) -> usize {
    let pending = store.status().unwrap().pending_commits;
    let changes = store.history().take(pending).flat_map(|commit| commit.unwrap().changes);
    changes.filter(|change| matches!(change.operation, object::change::Operation::Create(_))).count()
}
