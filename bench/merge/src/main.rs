//! The merge kernel against automerge, loro and yrs, on the same work and interleaved: 10,000 objects of 10 slots, sets
//! of small integers, a fork, and the merge of what the fork did while live went on.
//!
//! First, lists edited side by side must come out as loro has them. Then it prints one line for each entrant and round,
//! its name and what was measured; `cargo xtask bench merge` runs this and reports. `--entrant NAME` is for a profiler.

mod automerge_peer;
mod differential;
mod kernel;
mod loro_peer;
mod work;
mod yrs_peer;

use work::{Measured, Sizes, Work, measure};

type Run = fn(&Work, Option<&str>) -> Measured;

const ENTRANTS: [(&str, Run); 4] = [
    ("telos", measure::<kernel::Kernel>),
    ("automerge", measure::<automerge_peer::Automerge>),
    ("loro", measure::<loro_peer::Loro>),
    ("yrs", measure::<yrs_peer::Yrs>),
];

fn main() {
    let (only, entrant): (Option<String>, Option<String>) = (argument("--only"), argument("--entrant"));
    let rounds = argument("--rounds").unwrap_or(5);
    let sizes = Sizes { objects: argument("--objects").unwrap_or(10_000), sets: argument("--sets").unwrap_or(100_000) };
    if only.as_deref().is_none_or(|only| only == "lists") {
        differential::check(argument("--scripts").unwrap_or(10_000));
    }
    if only.as_deref() == Some("lists") {
        return;
    }
    for round in 0..rounds {
        let work = Work::new(sizes, round as u64);
        for turn in 0..ENTRANTS.len() {
            let (name, run) = &ENTRANTS[(round + turn) % ENTRANTS.len()];
            if entrant.as_deref().is_none_or(|entrant| entrant == *name) {
                println!("{name} {}", run(&work, only.as_deref()));
            }
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
}

fn argument<T: std::str::FromStr>(name: &str) -> Option<T> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name);
    arguments.get(at? + 1)?.parse().ok()
}
