//! What must never happen to a store: an acknowledged commit lost, a part of one found, wrong data read as right. Everything
//! drawn at random prints its seed; `TELOS_SEED` sets it. The gate takes samples, `TELOS_CASES` and `TELOS_SOAK` more.

mod crash;
mod damage;
mod disks;
mod kill;
mod model;
mod room;
mod world;

use std::path::Path;
use store::{Checkpoints, Options};

/// How many cases: what the gate takes, or with `TELOS_CASES` that, but no more than `most`.
fn cases(gate: usize, most: usize) -> usize {
    let asked = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse::<usize>().ok());
    asked.map_or(gate, |asked| asked.min(most))
}

fn seed(name: &str) -> u64 {
    let seed = std::env::var("TELOS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("{name}: TELOS_SEED={seed}");
    seed
}

/// Small, so that the ring is used many times over, and with checkpoints only when asked for.
fn options() -> Options {
    Options {
        log_bytes: 64 << 10,
        map_bytes: 1 << 28,
        checkpoints: Checkpoints::OnRequest,
        step_changes: 40,
        ..Options::default()
    }
}

fn assert_clean(store: &store::Store, when: &str) {
    let report = store.check(&mut |_| {}).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert!(report.is_clean(), "{when}: {report:?}");
}

fn write(directory: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(directory.join(name), bytes).unwrap();
}
