//! Durable commits: one committer, whose median is taken each round, and sixteen at once.

use crate::peers::{Contender, NAMES, open};
use crate::work::{Awake, Random, device_bytes, quantile};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

const COMMITTERS: u64 = 16;

/// Of each contender, in the order of `NAMES`.
pub fn measure(directory: &Path, rounds: u64, commits: u64) -> Value {
    let contenders: Vec<Box<dyn Contender>> = NAMES.iter().map(|name| open(name, directory)).collect();
    let empty = || vec![Vec::<f64>::new(); NAMES.len()];
    let (mut p50, mut p99, mut bytes, mut rates) = (empty(), empty(), empty(), empty());
    for round in 0..rounds {
        for offset in 0..NAMES.len() {
            let index = (round as usize + offset) % NAMES.len();
            let contender = &*contenders[index];
            let (mut times, written) = alone(contender, directory, round, commits);
            p50[index].push(quantile(&mut times, 0.5));
            p99[index].push(quantile(&mut times, 0.99));
            bytes[index].push(written);
            rates[index].push(together(contender, round, commits));
            contender.rest();
        }
        eprintln!("commits: round {} of {rounds}", round + 1);
    }
    let named = |samples: Vec<Vec<f64>>| -> Value {
        NAMES.iter().zip(samples).map(|(name, samples)| ((*name).to_string(), json!(samples))).collect()
    };
    json!({ "p50_us": named(p50), "p99_us": named(p99), "device_bytes": named(bytes), "rate_16": named(rates) })
}

/// Microseconds of each commit, and bytes to the device a commit.
fn alone(contender: &dyn Contender, directory: &Path, round: u64, commits: u64) -> (Vec<f64>, f64) {
    let mut random = Random(round);
    let awake = Awake::new();
    let before = device_bytes(directory);
    let time = |_| {
        let puts = random.puts();
        let start = Instant::now();
        contender.commit(&puts, 0);
        start.elapsed().as_secs_f64() * 1e6
    };
    let times: Vec<f64> = (0..commits).map(time).collect();
    drop(awake);
    (times, (device_bytes(directory) - before) / commits as f64)
}

/// Commits a second of sixteen threads.
fn together(contender: &dyn Contender, round: u64, commits: u64) -> f64 {
    let each = commits.div_ceil(4);
    let _awake = Awake::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..COMMITTERS {
            scope.spawn(move || {
                let mut random = Random(round * 100 + thread);
                (0..each).for_each(|_| contender.commit(&random.puts(), 1 + thread));
            });
        }
    });
    (each * COMMITTERS) as f64 / start.elapsed().as_secs_f64()
}
