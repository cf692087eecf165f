//! The merge kernel against automerge, loro and yrs, on the same work and interleaved: 10,000 objects of 10 slots, sets
//! of small integers, a fork, and the merge of what the fork did while live went on. Prints one table.
//!
//! Times are medians over the rounds; only ratios from the same run mean anything.

mod automerge_peer;
mod kernel;
mod loro_peer;
mod work;
mod yrs_peer;

use work::{Measured, Sizes, Work};

/// One of those compared.
struct Entrant {
    name: &'static str,
    run: fn(&Work) -> Measured,
}

const ENTRANTS: [Entrant; 4] = [
    Entrant { name: "telos", run: kernel::run },
    Entrant { name: "automerge", run: automerge_peer::run },
    Entrant { name: "loro", run: loro_peer::run },
    Entrant { name: "yrs", run: yrs_peer::run },
];

fn main() {
    let rounds = argument("--rounds", 5);
    let sizes = Sizes { objects: argument("--objects", 10_000), sets: argument("--sets", 100_000) };
    let mut samples: Vec<Vec<Measured>> = ENTRANTS.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        let work = Work::new(sizes, round as u64);
        for (entrant, samples) in ENTRANTS.iter().zip(&mut samples) {
            samples.push((entrant.run)(&work));
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    let medians: Vec<Measured> = samples.iter().map(|samples| Measured::median(samples)).collect();
    report(&medians, sizes);
}

fn argument(name: &str, default: usize) -> usize {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn report(medians: &[Measured], sizes: Sizes) {
    println!("| | {} |", ENTRANTS.each_ref().map(|entrant| entrant.name).join(" | "));
    println!("|---|---|---|---|---|");
    let many = sizes.sets;
    let row = |what: String, value: fn(&Measured) -> f64, unit: &str| {
        let cells: Vec<String> = medians.iter().map(|measured| format!("{:.3} {unit}", value(measured))).collect();
        let is_ahead = medians[1..].iter().all(|peer| value(&medians[0]) < value(peer));
        println!("| {what} | {} |{}", cells.join(" | "), if is_ahead { "" } else { " BEHIND" });
        is_ahead
    };
    let ahead = [
        row(format!("{many} sets"), |measured| measured.sets_ms, "ms"),
        row("fork".into(), |measured| measured.fork_ms, "ms"),
        row("merge of 1000 concurrent changes".into(), |measured| measured.merge_few_ms, "ms"),
        row(format!("merge of {many} concurrent changes"), |measured| measured.merge_many_ms, "ms"),
        row("bytes a change, of 1000".into(), |measured| measured.few_bytes, "B"),
        row(format!("bytes a change, of {many}"), |measured| measured.many_bytes, "B"),
    ];
    let per_second = many as f64 / medians[0].merge_many_ms * 1000.0;
    println!("\ntelos merges {per_second:.0} changes a second");
    let is_met = ahead.iter().all(|ahead| *ahead) && medians[0].many_bytes <= 8.0 && per_second >= 1e6;
    println!("{}", if is_met { "all bars are met" } else { "NOT all bars are met" });
}
