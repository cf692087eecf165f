//! The kernel alone, on the work that `bench/merge` gives it and its peers: for small steps.
//! `cargo run --release -p merge --example bench_merge -- [rounds]`

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "it measures and prints")]

#[path = "../../../bench/merge/src/kernel.rs"]
mod kernel;
#[path = "../../../bench/merge/src/work.rs"]
mod work;

use work::{Measured, Sizes, Work};

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let run = |round| kernel::run(&Work::new(Sizes { objects: 10_000, sets: 100_000 }, round));
    let samples: Vec<Measured> = (0..rounds).map(run).collect();
    let median = Measured::median(&samples);
    println!("100000 sets              {:>9.3} ms", median.sets_ms);
    println!("fork                     {:>9.6} ms", median.fork_ms);
    println!("merge of 1000            {:>9.3} ms, {:.2} bytes a change", median.merge_few_ms, median.few_bytes);
    println!("merge of 100000          {:>9.3} ms, {:.2} bytes a change", median.merge_many_ms, median.many_bytes);
}
