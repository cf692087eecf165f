//! What is stored: how fast it is recovered, what its checkpoint does to commits, and how fast it is read.

use crate::made::{Made, options};
use crate::opening::bare_environment;
use crate::peers::{changes, fill};
use crate::work::{Awake, PUTS, Puts, Random, VALUE_BYTES, device_bytes, quantile};
use object::change::*;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use store::{Durability, IMAGE, NewCommit, Store};

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

/// The p99 of commits while nothing else happens, and while a checkpoint of scattered objects runs; then what a checkpoint
/// takes that nobody commits beside.
pub fn checkpoint(made: &Made, scattered: u64, rounds: u64) -> Value {
    let directory = &made.directory;
    let store = Store::open(directory, options()).expect("it opens");
    let actor = store.mint_actor().expect("there is another");
    let mut writer = Writer { store: &store, made, actor, next: 1 };
    let (mut quiet, mut busy, mut median, mut busy_median) = (vec![], vec![], vec![], vec![]);
    let (mut rates, mut amplified) = (vec![], vec![]);
    store.checkpoint().expect("there is room");
    let _awake = Awake::new();
    for round in 0..rounds {
        writer.scatter(scattered, round);
        let mut alone = writer.commit_while(round, Until::Count(5000));
        let is_done = AtomicBool::new(false);
        let mut beside = std::thread::scope(|scope| {
            scope.spawn(|| {
                store.checkpoint().expect("there is room");
                is_done.store(true, Ordering::Release);
            });
            writer.commit_while(round + 1000, Until::Done(&is_done))
        });
        store.checkpoint().expect("there is room");
        writer.scatter(scattered, round + 2000);
        let (start, before) = (Instant::now(), device_bytes(directory));
        store.checkpoint().expect("there is room");
        let (seconds, written) = (start.elapsed().as_secs_f64(), device_bytes(directory) - before);
        eprintln!("checkpoint: {} commits beside; alone {seconds:.2} s, {} MB", beside.len(), written as u64 >> 20);
        quiet.push(quantile(&mut alone, 0.99));
        median.push(quantile(&mut alone, 0.5));
        busy.push(quantile(&mut beside, 0.99));
        busy_median.push(quantile(&mut beside, 0.5));
        rates.push(scattered as f64 / seconds);
        amplified.push(written / (scattered as f64 * VALUE_BYTES as f64));
    }
    let bytes = store.status().expect("it has one").image_bytes;
    json!({
        "quiet_p99_us": quiet, "busy_p99_us": busy, "quiet_p50_us": median, "busy_p50_us": busy_median,
        "changes_per_second": rates, "bytes_per_byte": amplified,
        "objects": made.items, "bytes": bytes, "scattered": scattered,
    })
}

enum Until<'d> {
    Count(usize),
    Done(&'d AtomicBool),
}

/// Writes to items of an image, as somebody of its own.
struct Writer<'s> {
    store: &'s Store,
    made: &'s Made,
    actor: ActorId,
    next: u64,
}

impl Writer<'_> {
    /// One transaction of four texts for items anywhere.
    fn changes(&mut self, random: &mut Random) -> Vec<Change> {
        let puts: Puts = random.puts();
        let change = |(_, value): &(u64, [u8; 150])| {
            let field = Field::Slot("text".into());
            let operation = Operation::Put { field, value: Datum::Text(Text::from(value.as_slice())) };
            let id = ChangeId::new(self.actor, self.next);
            self.next += 1;
            Change::new(id, Time(2), self.made.item(random.next() % self.made.items), operation)
        };
        puts.iter().map(change).collect()
    }

    fn scatter(&mut self, count: u64, round: u64) {
        let mut random = Random(round + 77);
        for _ in 0..count / PUTS as u64 {
            let changes = self.changes(&mut random);
            let commit = NewCommit { changes, durability: Durability::Os, ..NewCommit::default() };
            let ticket = self.store.commit(commit).expect("it is taken");
            if ticket.number % 1000 == 0 {
                self.store.wait(ticket).expect("it is written");
            }
        }
    }

    fn commit_while(&mut self, round: u64, until: Until<'_>) -> Vec<f64> {
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
            let changes = self.changes(&mut random);
            let start = Instant::now();
            let ticket = self.store.commit(NewCommit { changes, ..NewCommit::default() }).expect("it is taken");
            self.store.wait(ticket).expect("it is flushed");
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
}

/// Seconds for random reads of whole objects, and of the same values from bare LMDB.
pub fn reads(made: &Made, count: u64, rounds: u64) -> Value {
    let store = Store::open(&made.directory, options()).expect("it opens");
    let bare = bare_environment(&made.directory.join(IMAGE));
    let table = bare.table("objects", false).expect("it is there");
    let snapshot = bare.read().expect("it can be read");
    let (mut ours, mut theirs) = (vec![], vec![]);
    for round in 0..rounds {
        let mut random = Random(round);
        let start = Instant::now();
        let mut sum = 0;
        for _ in 0..count {
            let key = made.item(random.next() % made.items).to_bytes();
            let value = snapshot.get(table, &key).expect("it can be read").expect("it is there");
            sum += value.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        }
        theirs.push(start.elapsed().as_secs_f64());
        let mut random = Random(round);
        let start = Instant::now();
        for _ in 0..count {
            let object = made.item(random.next() % made.items);
            sum += store.read(object).expect("it can be read").expect("it is there").slots.len() as u64;
        }
        ours.push(start.elapsed().as_secs_f64());
        assert!(sum > 0);
    }
    json!({ "telos_s": ours, "lmdb_s": theirs, "objects": made.items, "reads": count })
}
