//! Fuzzes the decoder of journals: streams that an accident changed, and streams that a forger made. Nothing may panic, the
//! pieces do not matter, and what comes through can be written, read again and shown.

#[path = "../tests/lab/mod.rs"]
mod lab;

use dream::Bounds;
use dream::show::{Nameless, diff, to_json};
use lab::{Dreamer, decoded, forged, worsened, written};
use std::ops::ControlFlow;
use std::process::ExitCode;
use store::NewCommit;
use testkit::Random;

/// Inputs are text, so that they can be shrunk: two hex digits a byte.
fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn to_bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn main() -> ExitCode {
    let generate = |seed: u64| {
        let mut random = Random::new(seed);
        let commits = Dreamer::new(&mut random).commits(6);
        let bytes = match random.below(4) {
            0 => worsened(&mut random, written(&commits)),
            _ => forged(&mut random, &commits),
        };
        to_text(&bytes)
    };
    testkit::fuzz::run(generate, |text| check(&to_bytes(text)))
}

fn check(bytes: &[u8]) -> Result<(), String> {
    let (entries, end) = decoded(bytes, Bounds::default(), || usize::MAX);
    for piece in [1, 13, 100] {
        if decoded(bytes, Bounds::default(), || piece) != (entries.clone(), end.clone()) {
            return Err(format!("pieces of {piece} bytes give something else"));
        }
    }
    let commit = |entry: &dream::Entry| NewCommit {
        time: entry.time(),
        author: entry.author().into(),
        cause: entry.cause().into(),
        changes: entry.changes().to_vec(),
        ..NewCommit::default()
    };
    let commits: Vec<NewCommit> = entries.iter().map(commit).collect();
    match decoded(&written(&commits), Bounds::default(), || usize::MAX) {
        (again, Ok(0)) if again == entries => {}
        (again, end) => return Err(format!("written again it is {again:?}, {end:?}")),
    }
    show(entries)
}

fn show(entries: Vec<dream::Entry>) -> Result<(), String> {
    let mut journal = dream::Journal::new(lab::FORK);
    entries.into_iter().for_each(|entry| journal.push(entry));
    let text = diff(&journal, &Nameless).to_string();
    if let Some(letter) = text.chars().find(|letter| letter.is_control() && *letter != '\n' && *letter != '\t') {
        return Err(format!("{letter:?} is shown"));
    }
    let mut told = 0;
    to_json(&journal, &Nameless, &mut |_| {
        told += 1;
        ControlFlow::Continue(())
    });
    let changes = journal.changes().count();
    if told == changes { Ok(()) } else { Err(format!("{told} of {changes} changes are told")) }
}
