//! The image: how fast it is recovered, what its checkpoint does to commits, and how fast it is read.

use crate::peers::{changes, fill};
use crate::work::{Awake, PUTS, Random, device_bytes, key_bytes, quantile};
use object::change::{ActorId, ChangeId, ObjectId};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{Checkpoints, Durability, IMAGE, NewCommit, Options, Store};
use system::lmdb::{Access, Environment, Snapshot};

fn options() -> Options {
    Options { checkpoints: Checkpoints::OnRequest, ..Options::default() }
}

/// A store of about so many bytes, left for other measurements.
pub fn make(directory: &Path, bytes: u64) {
    let start = Instant::now();
    let store = Store::create(directory, Options { log_bytes: 256 << 20, ..options() }).expect("a store can be made");
    // An object takes about 200 bytes in the tree, and as much in the history.
    let objects = bytes / 430;
    fill(&store, objects);
    let status = store.status().expect("it has one");
    println!("{objects} objects, {} bytes, {:.1} s", status.image_bytes, start.elapsed().as_secs_f64());
}

/// Changes a second that opening replays.
pub fn recovery(directory: &Path, total: u64) -> Value {
    let store = Store::create(directory, options()).expect("a store can be made");
    fill(&store, 1000);
    let mut random = Random(3);
    for commit in 0..total / PUTS as u64 {
        let mut puts = random.puts();
        puts.iter_mut().for_each(|(key, _)| *key = 1 + *key % 1000);
        let changes = changes(ActorId(7), commit * PUTS as u64 + 1, &puts);
        let commit = NewCommit { changes, durability: Durability::Os, ..NewCommit::default() };
        let ticket = store.commit(commit).expect("it is taken");
        if ticket.number % 100 == 0 {
            store.wait(ticket).expect("it is written");
        }
    }
    store.close().expect("the disk works");
    let rate = |_| {
        let start = Instant::now();
        let store = Store::open(directory, options()).expect("it opens");
        let seconds = start.elapsed().as_secs_f64();
        store.status().expect("it has one").pending_changes as f64 / seconds
    };
    let rates: Vec<f64> = (0..5).map(rate).collect();
    json!({ "changes_per_second": rates, "changes": total })
}

/// The p99 of commits while nothing else happens, and while a checkpoint of scattered objects runs.
pub fn checkpoint(directory: &Path, objects: u64, scattered: u64, rounds: u64) -> Value {
    let store = Store::create(directory, options()).expect("a store can be made");
    fill(&store, objects);
    let (mut quiet, mut busy, mut median, mut busy_median) = (vec![], vec![], vec![], vec![]);
    let (mut seconds, mut written) = (vec![], vec![]);
    let _awake = Awake::new();
    let mut next = 1;
    for round in 0..rounds {
        scatter(&store, objects, scattered, round, &mut next);
        let mut alone = commit_while(&store, &mut next, round, Until::Count(5000));
        let is_done = AtomicBool::new(false);
        let (mut beside, took) = std::thread::scope(|scope| {
            let checkpoint = scope.spawn(|| {
                let (start, before) = (Instant::now(), device_bytes(directory));
                store.checkpoint().expect("there is room");
                is_done.store(true, Ordering::Release);
                (start.elapsed().as_secs_f64(), device_bytes(directory) - before)
            });
            let beside = commit_while(&store, &mut next, round + 1000, Until::Done(&is_done));
            (beside, checkpoint.join().expect("it did not panic"))
        });
        eprintln!("checkpoint: {} commits beside, {:.2} s, {} MB", beside.len(), took.0, took.1 as u64 >> 20);
        quiet.push(quantile(&mut alone, 0.99));
        median.push(quantile(&mut alone, 0.5));
        busy.push(quantile(&mut beside, 0.99));
        busy_median.push(quantile(&mut beside, 0.5));
        seconds.push(took.0);
        written.push(took.1);
    }
    json!({
        "quiet_p99_us": quiet, "busy_p99_us": busy, "quiet_p50_us": median, "busy_p50_us": busy_median,
        "seconds": seconds, "device_bytes": written, "objects": objects, "scattered": scattered,
    })
}

fn scatter(store: &Store, objects: u64, count: u64, round: u64, next: &mut u64) {
    let mut random = Random(round + 77);
    for _ in 0..count / PUTS as u64 {
        let mut puts = random.puts();
        puts.iter_mut().for_each(|(key, _)| *key = 1 + random.next() % objects);
        let changes = changes(ActorId(9), *next, &puts);
        *next += PUTS as u64;
        let ticket = store.commit(NewCommit { changes, durability: Durability::Os, ..NewCommit::default() });
        let ticket = ticket.expect("it is taken");
        if ticket.number % 1000 == 0 {
            store.wait(ticket).expect("it is written");
        }
    }
}

enum Until<'d> {
    Count(usize),
    Done(&'d AtomicBool),
}

fn commit_while(store: &Store, next: &mut u64, round: u64, until: Until<'_>) -> Vec<f64> {
    let mut random = Random(round);
    let mut times = Vec::new();
    loop {
        let is_over = match until {
            Until::Count(count) => times.len() >= count,
            Until::Done(is_done) => is_done.load(Ordering::Acquire),
        };
        if is_over {
            return times;
        }
        let changes = changes(ActorId(9), *next, &random.puts());
        *next += PUTS as u64;
        let start = Instant::now();
        let ticket = store.commit(NewCommit { changes, ..NewCommit::default() }).expect("it is taken");
        store.wait(ticket).expect("it is flushed");
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
}

/// Seconds for random reads of whole objects, and of the same values from bare LMDB.
pub fn reads(directory: &Path, count: u64, rounds: u64) -> Value {
    let store = Store::open(directory, options()).expect("it opens");
    let objects = store.next_change().seq - 1;
    let options = system::lmdb::Options {
        access: Access::ReadUnlocked,
        snapshot: Snapshot::Newest,
        map_bytes: 1 << 40,
        tables: 8,
        readers: 16,
    };
    let bare = Environment::open(&directory.join(IMAGE), &options).expect("it opens");
    let table = bare.table("objects", false).expect("it is there");
    let snapshot = bare.read().expect("it can be read");
    let (mut ours, mut theirs) = (vec![], vec![]);
    for round in 0..rounds {
        let mut random = Random(round);
        let start = Instant::now();
        let mut sum = 0;
        for _ in 0..count {
            let key = key_of(1 + random.next() % objects);
            let value = snapshot.get(table, &key).expect("it can be read").expect("it is there");
            sum += value.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        }
        theirs.push(start.elapsed().as_secs_f64());
        let mut random = Random(round);
        let start = Instant::now();
        for _ in 0..count {
            let object = ObjectId::minted(ChangeId::new(ActorId(1), 1 + random.next() % objects));
            sum += store.read(object).expect("it can be read").expect("it is there").slots.len() as u64;
        }
        ours.push(start.elapsed().as_secs_f64());
        assert!(sum > 0);
    }
    json!({ "telos_s": ours, "lmdb_s": theirs, "objects": objects, "reads": count })
}

fn key_of(number: u64) -> [u8; 16] {
    let mut key = key_bytes(number);
    key[7] = 1;
    key
}

/// Seconds to open a store, and to open its image with bare LMDB.
pub fn opening(directory: &Path) -> Value {
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    let pause = || std::thread::sleep(Duration::from_millis(5));
    let object = ObjectId::minted(ChangeId::new(ActorId(1), 1));
    let ours: Vec<f64> = (0..20)
        .map(|_| {
            pause();
            time(&|| {
                let store = Store::open_read_only(directory, options()).expect("it opens");
                assert!(store.read(object).expect("it can be read").is_some());
            })
        })
        .collect();
    json!({ "telos_ms": ours })
}
